"""Public functions that are programs of their own have the stages of compiled ones."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp
from dovetail.stages import Wrapped

SURFACES = ["numpy", "numpy.linalg", "nn", "lax", "lax.linalg", "scipy.linalg", "scipy.special"]
SURFACES += ["scipy.stats", *(f"scipy.stats.{n}" for n in ("betabinom", "poisson", "truncnorm"))]
X, V = jnp.ones((3, 3)), jnp.arange(3.0)
CASES = {
    "sin": ((V,), {}),
    "clip": ((V, 0, 1), {}),
    "cumsum": ((X, 1), {}),
    "sort": ((V,), {"descending": True}),
    "nanvar": ((X,), {"axis": 0, "ddof": 1, "keepdims": True}),
    "quantile": ((V, 0.5), {"method": "lower"}),
    "block": (([[X, X], [X, X]],), {}),
    "tril": ((X, 1), {}),
    "atleast_1d": ((V, V), {}),
    "convolve": ((V, V, "same"), {}),
}


@pytest.mark.parametrize("surface", SURFACES)
def test_all_that_are_listed_have_stages(surface):
    module = import_module(f"dovetail.{surface}")
    listed = import_module(f"dovetail_{surface}").__programs__
    assert listed
    for name in listed:
        assert isinstance(getattr(module, name), Wrapped), name


@pytest.mark.parametrize("name", CASES)
def test_stages_are_of_the_function(name):
    f, (args, kwargs) = getattr(jnp, name), CASES[name]
    lowered = f.lower(*args, **kwargs)
    assert f"@jit_{name} " in lowered.as_text()
    wanted, result = f(*args, **kwargs), f.eval_shape(*args, **kwargs)
    for x, y in zip(dovetail.tree.leaves(wanted), dovetail.tree.leaves(result), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
    f.clear_cache()
    again = f(*args, **kwargs)
    for x, y in zip(dovetail.tree.leaves(wanted), dovetail.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(x, y)


def test_operands_are_what_arrays_are_and_options_are_not():
    x = dovetail.ShapeDtypeStruct((3,), np.float32)
    assert len(jnp.sin.trace(x).jaxpr.invars) == 1
    assert len(jnp.clip.trace(x, 0, 1).jaxpr.invars) == 3
    assert len(jnp.cumsum.trace(x, 0).jaxpr.invars) == 1
    np.testing.assert_allclose(jnp.sin.lower(x).compile()(V), np.sin(V), rtol=1e-6)
    with pytest.raises(TypeError, match="sin requires an array"):
        jnp.sin.lower("text")


def test_functions_of_compiled_ones_do_not_have_their_stages():
    f = dovetail.jit(lambda x: x * 2)
    made = [dovetail.vmap(f), dovetail.grad(f), dovetail.checkpoint(f), dovetail.vmap(jnp.sin)]
    assert not any(hasattr(g, "lower") or hasattr(g, "trace") for g in made)
    assert "@jit_sin " in dovetail.jit(jnp.sin).lower(V).as_text()


def test_to_have_stages_imports_no_compiler():
    script = "import sys, dovetail.numpy as jnp\njnp.gcd\nprint(hasattr(jnp.gcd, 'lower'))\n"
    script += "print('dovetail_jit.stages' in sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
