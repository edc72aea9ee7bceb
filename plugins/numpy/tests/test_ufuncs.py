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


@pytest.mark.parametrize(("call", "error", "text"), [
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
