"""Functions that are one call when evaluated give the types, values and errors of a traced call."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.options import enable_x64
from dovetail_jit import jit

DTYPES = ["bool", "int8", "uint32", "int32", "bfloat16", "float32"]
NUMBERS: list[Any] = [0, 3, -1, 2.5, True, 2**31, -(2**40), float("inf"), 1j]
WEAK = lax.broadcast(dnp.asarray(1.5), (2,))


def outcome(f: Any, *args: Any) -> Any:
    try:
        out = f(*args)
    except Exception as e:  # what is raised is compared, too
        return type(e)
    return out.aval, np.asarray(out).tobytes()


def both(f: Any, *args: Any) -> None:
    """Twice at rest, and traced, where Python's numbers are known as at rest."""
    arrays = [x for x in args if hasattr(x, "aval")]

    def traced(*xs: Any) -> Any:
        given = iter(xs)
        return f(*[next(given) if hasattr(x, "aval") else x for x in args])

    wanted = outcome(jit(traced), *arrays)
    assert [outcome(f, *args) for _ in range(3)] == [wanted] * 3, args


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_where_of_arrays_and_numbers(dtype: str, wide: bool) -> None:
    with enable_x64(wide):
        x = dnp.asarray([1, 2], dtype)
        m = dnp.asarray([True, False])
        for number in NUMBERS:
            both(dnp.where, m, x, number)
            both(dnp.where, m, number, x)
        both(dnp.where, x, 1, 0.0)
        both(dnp.where, m, x, WEAK)
        both(dnp.where, m, 1, 2)
        both(dnp.where, m[0], x, np.ones((2, 2), np.float32))


def test_where_of_other_things() -> None:
    m = dnp.asarray([True, False])
    assert dnp.where(True, 1, 2).aval.weak_type
    for wrong in ([1.0, 2.0], "a", dnp.ones(3)):
        with pytest.raises((TypeError, ValueError)):
            dnp.where(m, wrong, 1)
    assert dnp.where(m)[0].tolist() == [0]


@pytest.mark.parametrize("name", ["floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift"])
def test_operators_of_arrays_and_numbers(name: str) -> None:
    f = getattr(operator, name)
    for dtype, number in product(["bool", "uint8", "int32", "float32"], NUMBERS):
        if isinstance(number, int) and abs(number) > 100 and dtype == "uint8":
            continue  # wraps at rest and in a trace, each with its own error
        x = dnp.asarray([1, 3], dtype)
        both(f, x, number)
        both(f, number, x)
        both(f, x, dnp.asarray([2, 1], dtype))


def test_squeeze_and_decompositions() -> None:
    a = dnp.asarray(np.arange(9, dtype=np.float32).reshape(3, 3) + 5 * np.eye(3, dtype=np.float32))
    both(dnp.squeeze, a[None])
    both(dnp.squeeze, a)
    both(lambda x: dnp.squeeze(x, (0, -1)), a[None, ..., None])
    both(lambda x: dnp.squeeze(x, [0]), a[None])
    both(lambda x: dnp.squeeze(x, 1), a[None])
    linalg = dnp.linalg
    for f in (linalg.eigvalsh, linalg.matrix_rank, linalg.svdvals, linalg.pinv, linalg.cond):
        both(f, a)
        both(f, dnp.asarray(a, int))
        both(f, a[0])
    for mode in ("reduced", "complete", "r", "wrong"):
        both(lambda x, mode=mode: dnp.asarray(linalg.qr(x, mode)[0]), a)
    for power in (-1, 0, 3, 2.5):
        both(lambda x, power=power: linalg.matrix_power(x, power), a)
    both(lambda x: linalg.eigh(x, "U").eigenvalues, a)
    both(lambda x: linalg.eigh(x, "X").eigenvalues, a)
    both(lambda x: linalg.slogdet(x, method="qr").logabsdet, a)
    both(lambda x: linalg.matrix_rank(x, rtol=0.5), a)
    both(lambda x: linalg.lstsq(x, x[0], 0.1)[1], a)
    assert linalg.eigh(a)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.lstsq(a, a[0], numpy_resid=True)[1].shape == (0,)


def test_products_of_all_elements() -> None:
    x = dnp.asarray([1.0, 2.0])
    for f in (dnp.vdot, dnp.inner):
        both(f, x, dnp.asarray([1, 2]))
        both(f, x, dnp.asarray([1j, 2]))
        both(f, dnp.asarray([1j, 2]), x)
        both(f, x, 2.0)
        both(f, x, dnp.ones(3))
        both(lambda a, b, f=f: f(a, b, preferred_element_type="float16"), x, x)


PAIRS = "divmod gcd lcm isclose allclose kron append"
SINGLE = """
    ediff1d frexp modf rint gradient nan_to_num nanargmax nanmax nanmean nanstd nansum ptp trapezoid
    unwrap iscomplex isreal diff angle average nanmedian corrcoef cov
"""


@pytest.mark.parametrize("name", PAIRS.split())
def test_functions_of_two_arrays(name: str) -> None:
    f = getattr(dnp, name)
    for dtype in ("int32", "float32"):
        x = dnp.asarray([1, 2, 1], dtype)
        for number in (2, 2.5, True, 2**31, 1j):
            both(lambda *args: tuple_of(f(*args)), x, number)
        both(lambda *args: tuple_of(f(*args)), x, dnp.asarray([2, 1, 1], dtype))


@pytest.mark.parametrize("name", SINGLE.split())
def test_functions_of_one_array(name: str) -> None:
    f = getattr(dnp, name)
    for dtype in ("bool", "int32", "complex64"):
        both(lambda x: tuple_of(f(x)), dnp.asarray([3, 1, 2], dtype))
    both(lambda x: tuple_of(f(x)), dnp.broadcast_to(WEAK[0], (3,)))


def tuple_of(out: Any) -> Any:
    """One array that says what a function gave, however many there are."""
    if not isinstance(out, (tuple, list)):
        return out
    return dnp.concatenate([dnp.ravel(x).astype("float32") for x in out])


def test_statics_and_rows() -> None:
    a = dnp.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    v, i = a[0], dnp.asarray([[1], [0], [2]])
    for axis in (1, 5, [0]):
        both(lambda x, axis=axis: dnp.trapezoid(x, axis=axis), a)
        both(lambda x, axis=axis: dnp.nansum(x, axis=axis), a)
        both(lambda x, axis=axis: dnp.ptp(x, axis), a)
        both(lambda x, axis=axis: dnp.quantile(x, 0.25, axis=axis), a)
        both(lambda x, axis=axis: dnp.diff(x, 1, axis), a)
    both(lambda x: dnp.put_along_axis(x, i, 1.0, 1, inplace=False), a)
    both(lambda x: dnp.digitize(x, [1.0, 2.0]), a)
    both(lambda x: dnp.polyval([1.0, 2.0], x), a)
    both(lambda x: dnp.block([[x, x], [x, x]]), a)
    both(lambda x: dnp.block([x, "a"]), a)
    both(lambda x: dnp.matvec(x, v), a)
    both(lambda x: dnp.resize(x, (2, 5)), a)
    both(lambda x: dnp.vander(x, 3), v)
    both(lambda x: dnp.gradient(x, [0.0, 1.0, 3.0, 4.0]), v)
    both(lambda x: dnp.pad(x, ((1, 2), (0, 1)), mode="mean"), a)
    both(lambda x: dnp.pad(x, 1, mode="linear_ramp"), a)
    both(lambda x: dnp.intersect1d(x, v, size=3), a)
    assert [x.shape for x in dnp.gradient(a)] == [(3, 4)] * 2
    assert dnp.gradient(a, dnp.asarray([0.0, 1.0, 3.0]), 1.0)[1].tolist() == [[1.0] * 4] * 3


def test_keys_axes_and_points() -> None:
    x, y = dnp.asarray([3.0, 1.0, 3.0]), dnp.asarray([1, 2, 0])
    for keys in ((x, y), [x, y], (x, 1.0), x[None], (x, [1, 2, 3]), (), (x, y[:2])):
        both(lambda x, keys=keys: dnp.lexsort(keys) + 0 * y, x)
    both(lambda x, y: dnp.lexsort((x, y), -1), x, y)
    both(lambda x, y: dnp.lexsort((x, y), 1), x, y)
    for f in (dnp.atleast_1d, dnp.atleast_2d, dnp.atleast_3d):
        for value in (x[0], x, x[None], x[None, None], WEAK[0], np.ones(2), 1.0, [1.0]):
            both(lambda x, f=f, value=value: f(value) + 0 * x[0], x)
        assert f(x[None, None]) is not x and f(whole := x[None, None]) is whole
        assert len(f(x, y)) == 2
    for points in (x, y, x[:1], x[:0], x[:2]):
        both(dnp.interp, points, dnp.asarray([0.0, 1.0, 2.0]), x)
    assert dnp.interp(2.0, dnp.asarray([1.0]), dnp.asarray([5.0])) == 5.0


def test_determinants_of_few_rows() -> None:
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 4):
        for shape in ((n, n), (5, n, n)):
            for part in (0, 1j):
                a = rng.normal(size=shape) + part * rng.normal(size=shape)
                with enable_x64(True):
                    result = dnp.linalg.det(dnp.asarray(a))
                np.testing.assert_allclose(result, np.linalg.det(a), rtol=1e-12, atol=1e-13)
    small = dnp.asarray(np.arange(1, 10, dtype=np.float32).reshape(3, 3))
    assert dnp.linalg.det(small) == 0 and dnp.linalg.det(small[:2, :2]) == -3
