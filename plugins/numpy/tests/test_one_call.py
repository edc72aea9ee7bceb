"""Functions that are one call when evaluated give the types, values and errors of a traced call."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core.base.options import enable_x64
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
