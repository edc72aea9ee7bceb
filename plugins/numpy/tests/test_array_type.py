"""The name of the array type, by which other libraries find the functions for it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module

import numpy as np

import dovetail.numpy as jnp


def test_the_package_of_the_type_has_the_functions_that_opt_einsum_asks_for():
    """It takes the first part of the type's module, imports it, and asks for these."""
    x = jnp.arange(6.0).reshape(2, 3)
    home = import_module(type(x).__module__.partition(".")[0])
    np.testing.assert_allclose(home.einsum("ij,kj->ik", x, x), np.asarray(x) @ np.asarray(x).T)
    np.testing.assert_allclose(home.tensordot(x, x, ((1,), (1,))), np.asarray(x) @ np.asarray(x).T)
    assert home.transpose(x, (1, 0)).shape == (3, 2)
    assert "jax" not in sys.modules


def test_the_type_is_pickled():
    kind = type(jnp.ones(1))
    data = pickle.dumps(kind)
    assert pickle.loads(data) is kind
    code = f"import pickle, sys; print(pickle.loads({data!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{kind}\n"
