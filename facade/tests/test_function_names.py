"""Public functions are called what they are listed as, also where another name means the same."""

from __future__ import annotations

import functools
import pickle
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp

SURFACES = [
    "", "tree", "tree_util", "numpy", "numpy.fft", "numpy.linalg", "lax", "lax.linalg", "nn",
    "nn.initializers", "random", "scipy.linalg", "scipy.special", "scipy.signal", "image", "ops",
    "debug", "hijax",
]  # fmt: skip
SHARED = {
    "nn.hard_swish": "hard_silu", "nn.swish": "silu", "nn.initializers.kaiming_normal": "he_normal",
    "nn.initializers.kaiming_uniform": "he_uniform",
    "nn.initializers.xavier_normal": "glorot_normal",
    "nn.initializers.xavier_uniform": "glorot_uniform",
}  # fmt: skip
"""Names that are one function with another one, in JAX too."""
ALIASES = {
    "absolute": "abs", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_not": "invert",
    "conj": "conjugate", "around": "round", "amax": "max", "amin": "min",
}  # fmt: skip
PAIRS = {
    "atan2": "arctan2", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "mod": "remainder", "pow": "power", "true_divide": "divide",
}  # fmt: skip


def functions(surface: str) -> dict[str, object]:
    module: ModuleType = import_module(f"dovetail.{surface}".rstrip("."))
    result = {n: getattr(module, n) for n in module.__all__}
    kinds = (FunctionType, BuiltinFunctionType, type(jnp.sin))
    return {n: f for n, f in result.items() if isinstance(f, kinds)}


@pytest.mark.parametrize("surface", SURFACES)
def test_functions_are_called_what_they_are_listed_as(surface: str) -> None:
    result = functions(surface)
    assert result
    for name, f in result.items():
        wanted = SHARED.get(f"{surface}.{name}", name)
        assert (f.__name__, f.__qualname__) == (wanted, wanted), f  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*ALIASES, *PAIRS])
def test_aliases_are_functions_of_their_own(name: str) -> None:
    f, other = getattr(jnp, name), getattr(jnp, {**ALIASES, **PAIRS}[name])
    assert f is not other and type(f) is type(other) and f.__doc__ == other.__doc__
    assert pickle.loads(pickle.dumps(f)) is f
    wrapper = functools.wraps(f)(lambda *args: f(*args))
    assert wrapper.__name__ == name
    kind = "int32" if "bitwise" in name else "float32"
    args = (jnp.array([1, 2], kind), jnp.array([3, 1], kind))[: 2 if name in PAIRS else 1]
    np.testing.assert_array_equal(f(*args), other(*args))
    np.testing.assert_array_equal(dovetail.jit(f)(*args), other(*args))
    if hasattr(f, "lower"):
        assert f"@jit_{name} " in f.lower(*args).as_text()


def test_short_names_of_pytree_functions_are_their_own() -> None:
    tree = {"a": 1, "b": (2, 3)}
    assert dovetail.tree.map(lambda x: x + 1, tree) == {"a": 2, "b": (3, 4)}
    for name in ("map", "leaves", "flatten", "unflatten", "structure", "reduce", "all"):
        f = getattr(dovetail.tree, name)
        assert f.__name__ == name and pickle.loads(pickle.dumps(f)) is f
        assert getattr(dovetail.tree_util, f"tree_{name}").__name__ == f"tree_{name}"
    assert dovetail.remat.__name__ == "remat" and dovetail.jacobian.__name__ == "jacobian"
    f = dovetail.remat(jnp.sin)
    assert f(0.0) == 0.0 and f.__name__ == "sin"


def test_options_have_names() -> None:
    assert dovetail.enable_x64.__name__ == "enable_x64"
    assert dovetail.numpy_rank_promotion.__name__ == "numpy_rank_promotion"
