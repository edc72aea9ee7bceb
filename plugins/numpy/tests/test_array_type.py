"""The array type: the name by which other libraries find its functions, and its attributes."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import dovetail
import dovetail.numpy as jnp

EINSUM = """
import sys
from importlib import import_module
import numpy as np
import dovetail.numpy as jnp
x = jnp.arange(6.0).reshape(2, 3)
home = import_module(type(x).__module__.partition(".")[0])
np.testing.assert_allclose(home.einsum("ij,kj->ik", x, x), np.asarray(x) @ np.asarray(x).T)
np.testing.assert_allclose(home.tensordot(x, x, ((1,), (1,))), np.asarray(x) @ np.asarray(x).T)
assert home.transpose(x, (1, 0)).shape == (3, 2)
assert "jax" not in sys.modules
"""


def test_the_package_of_the_type_has_the_functions_that_opt_einsum_asks_for():
    """It takes the first part of the type's module, imports it, and asks for these.

    In a process of its own, since in this one another test may have imported `jax` by a hook.
    """
    subprocess.run([sys.executable, "-c", EINSUM], check=True)


def test_the_type_is_pickled():
    kind = type(jnp.ones(1))
    data = pickle.dumps(kind)
    assert pickle.loads(data) is kind
    code = f"import pickle, sys; print(pickle.loads({data!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{kind}\n"


FRESH = """
import inspect
import dovetail

assert {looked_up}
"""


@pytest.mark.parametrize(
    "looked_up",
    [
        "'sum' in dir(dovetail.Array) and '__add__' in dir(dovetail.Array)",
        "'keepdims' in inspect.signature(dovetail.Array.sum).parameters",
        "isinstance(dovetail.Array.at, property) and isinstance(dovetail.Array.shape, property)",
        "inspect.isfunction(dovetail.Array.__mul__) and dovetail.Array.__eq__ != object.__eq__",
        "dovetail.Array.__hash__ is None",
        "not hasattr(dovetail.Array, 'nonsense') and not hasattr(dovetail.Array, '__nonsense__')",
        "'cumsum' in dir(dovetail.device_put(1.0))",
        "dovetail.eval_shape(lambda x: x * ('cumsum' in dir(x)), 1.0).shape == ()",
    ],
)  # fmt: skip
def test_the_class_has_the_methods_before_an_array_used_one(looked_up):
    subprocess.run([sys.executable, "-c", FRESH.format(looked_up=looked_up)], check=True)


METHODS = (
    "sum mean reshape astype argsort dot clip take __add__ __getitem__ __matmul__ item".split()
)


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_the_class_take_arrays_and_tracers(name):
    x = jnp.arange(3.0) if name != "item" else jnp.ones(())
    args = {
        "reshape": [(3, 1)], "astype": ["int32"], "dot": [x], "take": [np.array([0, 2])],
        "__add__": [x], "__getitem__": [1], "__matmul__": [x],
    }.get(name, [])  # fmt: skip
    method, expected = getattr(dovetail.Array, name), getattr(x, name)(*args)
    np.testing.assert_array_equal(method(x, *args), expected)
    if name != "item":
        np.testing.assert_array_equal(dovetail.jit(lambda x: method(x, *args))(x), expected)


def test_wrappers_of_all_methods_can_be_made():
    names = [n for n in dir(dovetail.Array) if callable(getattr(dovetail.Array, n))]
    assert {"sum", "any", "cumprod", "transpose", "view", "__rsub__", "__abs__"} <= set(names)
    for n in names:
        if not n.startswith("__"):
            assert inspect.signature(getattr(dovetail.Array, n)).parameters
    x = jnp.ones((2, 3))
    for n in ("shape", "dtype", "ndim", "size", "T", "mT", "real", "nbytes", "itemsize"):
        result, expected = getattr(dovetail.Array, n).__get__(x), getattr(x, n)
        assert np.array_equal(result, expected)


def test_questions_to_what_has_the_attributes_of_arrays():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    struct = dovetail.ShapeDtypeStruct((2, 3), "int8")
    assert jnp.shape(matrix) == (3, 3) and jnp.ndim(matrix) == 2 and jnp.size(struct) == 6
    assert jnp.result_type(matrix) == np.float32 and jnp.result_type(struct, 1.0) == np.float32
    with pytest.raises(TypeError):
        jnp.result_type(object())
    for ask in (jnp.shape, jnp.ndim, jnp.size):
        with pytest.warns(DeprecationWarning, match=f"{ask.__name__} of a value of type object at"):
            ask(object())


LATE = """
import inspect, sys
import numpy as np
import dovetail
import dovetail.numpy as jnp
from dovetail_core import Tracer
from dovetail_core.dispatch.value_methods import LateMethod, array_methods
from dovetail_xla.arrays import ArrayImpl

x = jnp.asarray([3.0, 1.0, 2.0])
assert float(dovetail.jit(lambda x: (x * 2 + 1)[0])(x)) == 7
home = "dovetail_numpy."
late = ("searching.sorting", "reductions.moments", "contraction.matmul", "ufuncs.bits")
assert not {home + name for name in late} & {*sys.modules}
assert vars(ArrayImpl)["argsort"].__class__ is LateMethod

kept = array_methods()["std"]
assert inspect.signature(ArrayImpl.argsort) == inspect.signature(jnp.argsort)
assert Tracer.argsort is ArrayImpl.argsort and "axis" in ArrayImpl.argsort.__doc__
assert vars(ArrayImpl)["argsort"] is ArrayImpl.argsort
assert array_methods()["argsort"] is ArrayImpl.argsort
assert x.argsort().tolist() == [1, 2, 0]
assert dovetail.jit(lambda x: x.argsort(axis=0))(x).tolist() == [1, 2, 0]

class Holder:
    std = kept
    aval, shape, dtype, ndim = x.aval, x.shape, x.dtype, x.ndim
    def __jax_array__(self): return x

assert isinstance(Holder.std(x), ArrayImpl)  # a class that was given it before it was imported
assert float(x @ x) == 14 and (np.ones(3) @ x).tolist() == 6
assert (x == x).all() and (x.astype(int) << 1).tolist() == [6, 2, 4]
assert (2 << x.astype(int)).tolist() == [16, 4, 8]
assert vars(ArrayImpl)["__lshift__"].__class__ is not LateMethod
assert (5 - x).tolist() == [2, 4, 3] and x.at[0].set(9).tolist() == [9, 1, 2]
assert dovetail.jit(lambda x: x.T @ x - x.mean().round())(x) == 12
try:
    x.nothing
except AttributeError as e:
    assert "nothing" in str(e)
else:
    raise AssertionError
"""


def test_methods_are_imported_when_they_are_used():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
