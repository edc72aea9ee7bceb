"""``ufunc`` objects, ``vectorize``, and the surface as a whole."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
import typing
from collections.abc import Sequence
from importlib import import_module

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_jit import jit

CASES = """\
xp.add.reduce(f2)
xp.add.reduce(f2, axis=None)
xp.add.reduce(f2, axis=1, keepdims=True, initial=2.0)
xp.add.accumulate(f2, axis=1)
xp.add.outer(f1, f2)
xp.add.reduceat(f1, np.array([0, 3, 5]))
xp.multiply.reduce(i2, axis=1)
xp.maximum.reduce(f2, axis=0)
xp.maximum.accumulate(f1)
xp.subtract.reduce(f1)
xp.subtract.accumulate(f1)
xp.logical_and.reduce(b2)
xp.logical_xor.reduce(b1)
xp.bitwise_or.reduce(i2, axis=1)
xp.logaddexp.reduce(f1)
xp.minimum.outer(f1, f1)
""".splitlines()


@pytest.mark.parametrize("case", CASES)
def test_methods_of_ufuncs(case, same_as_numpy):
    same_as_numpy(case)


def test_updates_at_indices(arrays, near):
    index = np.array([1, 1, 3])
    for name in ("add", "multiply", "maximum", "subtract"):
        wanted = np.array(arrays["f1"])
        getattr(np, name).at(wanted, index, np.float32(1.5))
        near(getattr(dnp, name).at(arrays["f1"], index, 1.5, inplace=False), wanted)


def test_functions_of_scalars_are_mapped(arrays, near):
    x = arrays["f2"]
    near(dnp.vectorize(lambda a, b: a + 2 * b)(x, x[0]), np.asarray(x) + 2 * np.asarray(x)[0])
    dot = dnp.vectorize(lambda a, b: dnp.dot(a, b), signature="(n),(n)->()")
    near(dot(x, x[0]), np.asarray(x) @ np.asarray(x)[0])
    times = dnp.frompyfunc(lambda a, b: a * b, 2, 1, identity=1)
    near(times.reduce(arrays["f1"]), np.prod(np.asarray(arrays["f1"])), 1e-4)
    near(times.outer(x, x[0]), np.multiply.outer(np.asarray(x), np.asarray(x)[0]))


INDICES = ([0], [0, 2, 5], [5, 1, 3, 3, 0, 6], [6, 5, 4, 3, 2, 1, 0], [])
NUMBERS = np.linspace(-2, 3, 35, dtype=np.float32).reshape(7, 5) ** 3
WHOLE = (np.arange(35, dtype=np.int32).reshape(7, 5) * 37) % 101


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "subtract",
                                  "logaddexp", "logaddexp2"])  # fmt: skip
def test_reductions_of_pieces(name, near):
    f, of_numpy = getattr(dnp, name), getattr(np, name)
    for indices in INDICES:
        at = np.array(indices, np.int32)
        wanted = of_numpy.reduceat(NUMBERS, at)
        near(f.reduceat(NUMBERS, at), wanted, 1e-4)
        near(jit(f.reduceat)(NUMBERS, at), wanted, 1e-4)  # indices are traced
        near(jit(lambda x, at=at: f.reduceat(x, at, axis=-1))(NUMBERS.T),
             of_numpy.reduceat(NUMBERS.T, at, axis=1), 1e-4)  # fmt: skip


@pytest.mark.parametrize("kind", ["bitwise", "logical"])
@pytest.mark.parametrize("what", ["and", "or", "xor"])
@pytest.mark.parametrize("x", [WHOLE, WHOLE > 40], ids=["numbers", "booleans"])
def test_methods_of_functions_of_bits(kind, what, x, near):
    name = f"{kind}_{what}"
    f, of_numpy = getattr(dnp, name), getattr(np, name)
    initial = x.dtype.type(6)
    for axis in (0, 1, None):
        options = {"axis": axis, "initial": initial, "where": WHOLE % 3 == 0}
        near(f.reduce(x, **options), of_numpy.reduce(x, **options))
    near(
        f.reduce(x, initial=initial, keepdims=True),
        of_numpy.reduce(x, initial=initial, keepdims=True),
    )
    if kind == "bitwise":
        near(f.reduce(x, dtype=np.uint8), of_numpy.reduce(x.astype(np.uint8)))
    for axis in (0, 1):
        near(f.accumulate(x, axis=axis), of_numpy.accumulate(x, axis=axis))
    for indices in INDICES:
        at = np.array(indices, np.int32)
        near(f.reduceat(x, at), of_numpy.reduceat(x, at))


def test_extremes_of_booleans_accumulate(near):
    for name in ("maximum", "minimum"):
        near(getattr(dnp, name).accumulate(WHOLE > 40),
             getattr(np, name).accumulate(WHOLE > 40))  # fmt: skip


def _halved(a, b):
    return 0.5 * a - b


def test_any_function_reduces_in_order(near):
    f = dnp.frompyfunc(_halved, 2, 1)
    rows = [NUMBERS[0]]
    for row in NUMBERS[1:]:
        rows.append(_halved(rows[-1], row))
    near(f.accumulate(NUMBERS), np.stack(rows), 1e-4)
    near(f.accumulate(NUMBERS.T, axis=-1), np.stack(rows, 1), 1e-4)
    near(jit(vmap(f.reduce, 1))(NUMBERS), rows[-1], 1e-4)
    start = np.float32(2)
    for row, keep in zip(NUMBERS, NUMBERS > 0):
        start = np.where(keep, _halved(start, row), start)
    near(f.reduce(NUMBERS, initial=2.0, where=NUMBERS > 0), start, 1e-4)
    slopes = grad(lambda x: f.reduce(x)[2])(NUMBERS)
    near(slopes[:, 2], [0.5**6, *(-(0.5 ** (6 - k)) for k in range(1, 7))])
    at = np.array([4, 0, 5])
    pieces = [rows_of(NUMBERS[i:j]) for i, j in ((4, 5), (0, 5), (5, 7))]
    near(f.reduceat(NUMBERS, at), np.stack(pieces), 1e-4)
    near(jit(f.reduceat)(NUMBERS, at), np.stack(pieces), 1e-4)


def rows_of(rows):
    out = rows[0]
    for row in rows[1:]:
        out = _halved(out, row)
    return out


def test_functions_whose_results_are_of_another_type(near):
    greater = dnp.frompyfunc(lambda a, b: a > b, 2, 1)
    x = np.array([3.0, 1.0, 0.0, 0.5], np.float32)
    assert bool(greater.reduce(x)) is (((3.0 > 1.0) > 0.0) > 0.5)
    near(greater.accumulate(x), [True, True, True, True])
    quotient = dnp.frompyfunc(lambda a, b: a / b, 2, 1)
    near(quotient.accumulate(np.array([8, 2, 2])), [8.0, 4.0, 2.0])
    near(quotient.reduceat(np.array([8, 2, 2]), np.array([0, 1])), [8.0, 1.0])
    assert dnp.add.reduceat(np.arange(4.0), np.zeros(0, int)).shape == (0,)
    near(dnp.add.reduceat(np.full(4096, 0.1, np.float16), np.array([0])), [409.5], 1e-3)


def test_updates_by_any_function_happen_for_each_occurrence(near):
    f = dnp.frompyfunc(_halved, 2, 1)
    wanted = np.arange(4.0, dtype=np.float32)
    for i, b in ((1, 1.0), (1, 2.0), (-1, 4.0)):
        wanted[i] = _halved(wanted[i], b)
    at, b = np.array([1, 1, 9, -1]), np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    x = np.arange(4.0, dtype=np.float32)
    for run in (f.at, jit(f.at, static_argnames="inplace")):
        near(run(x, at, b, inplace=False), wanted)  # 9 is beyond the end
    both = f.at(NUMBERS, (slice(1, 3), np.array([0, 0])), 1.0, inplace=False)
    twice = _halved(_halved(NUMBERS[1:3, 0], 1), 1)
    near(both[1:3, 0], twice)
    near(f.at(NUMBERS, 2, 1.0, inplace=False)[2], _halved(NUMBERS[2], 1))
    near(f.at(x, np.zeros(0, int), 1.0, inplace=False), x)


def test_programs_do_not_grow_with_the_number_of_rows():
    def count(method, n, *more):
        lowered = jit(method).lower(np.arange(n, dtype=np.float32), *more)
        return lowered.as_text().count("= stablehlo.")

    f = dnp.frompyfunc(_halved, 2, 1)
    at = np.array([0, 1])
    update = lambda x: f.at(x, np.arange(len(x)), x, inplace=False)  # noqa: E731
    for method, *more in ((f.reduce,), (f.accumulate,), (f.reduceat, at), (update,),
                          (dnp.subtract.accumulate,), (dnp.subtract.reduceat, at)):  # fmt: skip
        assert count(method, 1000, *more) <= count(method, 50, *more)
    for method, *more in ((dnp.add.reduceat, at), (dnp.logaddexp.reduce,)):
        assert count(method, 1024, *more) < 2.5 * count(method, 32, *more)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: dnp.add.reduceat(x, np.array([0, 99])), IndexError,
     r"add.reduceat takes indices from 0 to \d+ for an axis of length \d+, got \[ 0 99\]"),
    (lambda x: dnp.subtract.reduceat(x, np.array([-1])), IndexError, "takes indices from 0"),
    (lambda x: dnp.add(x, x, where=x > 0), NotImplementedError, "use dovetail.numpy.where"),
    (lambda x: dnp.add(x, x, out=x), NotImplementedError, "'out' argument of add"),
    (lambda x: dnp.add(x), TypeError, "add takes 2 arguments, got 1"),
    (lambda x: dnp.add.at(x, 0, 1), NotImplementedError, "inplace=False"),
    (lambda x: dnp.negative.reduce(x), ValueError, "for functions of two operands"),
    (lambda x: dnp.vectorize(lambda v: v, signature="n->n"), ValueError, "is not a signature"),
    (lambda x: dnp.vectorize(lambda a, b: a, signature="(n),(n)->(n)")(x, x[:2]), ValueError,
     r"'n' of '\(n\),\(n\)->\(n\)' has size 2 in argument 1"),
    (lambda x: dnp.frompyfunc(3, 1, 1), TypeError, "frompyfunc takes a function, got int"),
    (lambda x: dnp.sin([1.0]), TypeError, r"sin requires .* position 0, got list .*asarray"),
    (lambda x: dnp.add(x, None), TypeError, "add requires .* position 1, got NoneType"),
    (lambda x: dnp.hypot(x, 1j), TypeError, "hypot does not accept dtype complex64"),
])  # fmt: skip
def test_errors(call, error, text, arrays):
    with pytest.raises(error, match=text):
        call(arrays["f1"])


@pytest.mark.parametrize("module", [dnp, dnp.fft, dnp.linalg], ids=lambda m: m.__name__)
def test_public_functions_have_docstrings(module):
    bare = [n for n in module.__all__ if inspect.isfunction(getattr(module, n))
            and not getattr(module, n).__doc__]  # fmt: skip
    assert not bare


def test_every_public_name_is_there():
    assert [n for n in dnp.__all__ if not hasattr(dnp, n)] == []


def test_objects_that_convert_themselves_are_arrays():
    class Wrapped:
        def __jax_array__(self):
            return dnp.arange(3.0)

    assert dnp.sum(Wrapped()) == 3
    assert (dnp.ones(3) + Wrapped()).tolist() == [1, 2, 3]
    assert dnp.asarray(Wrapped()).shape == (3,)
    assert dnp.ones((3, 2))[Wrapped().__jax_array__().astype(int)].shape == (3, 2)


def test_functions_are_copied_and_pickled_by_their_names() -> None:
    for f in (dnp.sin, dnp.add, dnp.negative, dnp.sum, dnp.matmul):
        assert copy.deepcopy({"f": [f]})["f"][0] is f
        assert copy.copy(f) is f
    code = "import copy, dovetail.numpy as dnp; assert copy.deepcopy(dnp.sin) is dnp.sin"
    subprocess.run([sys.executable, "-c", code], check=True)  # where nothing called jit
    facade = import_module("dovetail.numpy")
    for name in ("sin", "add", "negative", "sum", "matmul"):
        f = getattr(facade, name)
        assert pickle.loads(pickle.dumps(f)) is f


def test_annotations_of_axes_can_be_evaluated() -> None:
    assert typing.get_type_hints(dnp.sum)["axis"] == int | Sequence[int] | None
