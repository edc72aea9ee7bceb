"""Modules under names of JAX have dictionaries with all that they list, if these are asked for."""

from __future__ import annotations

LAZY = """
import sys
import jax, jax.numpy as jnp
from jax import lax, nn, random
before = set(sys.modules)
assert "sin" in dir(jnp) and "fft" in dir(jnp) and "jit" in dir(jax)
assert jnp.sin(0.0) == 0.0
assert "dovetail_numpy.analysis.polynomials" not in sys.modules  # dir imports nothing
found = vars(jnp)
missing = {n for n in dir(jnp) if n not in found}
assert not missing, missing
assert all(found[n] is getattr(jnp, n) for n in dir(jnp))
assert len(set(sys.modules) - before) > 50
assert type(jnp) is type(sys) and vars(jnp) is jnp.__dict__ is found
"""


def test_they_are_filled_when_they_are_asked_for(python) -> None:
    done = python("-c", LAZY, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr


ALL = """
import copy, importlib, inspect, pickle, sys, warnings
import jax
from dovetail_jax_names.names import known
warnings.simplefilter("ignore")
for name in ["jax", *known()]:
    if name.startswith("jax.Array") or name.startswith("jax.example"):
        continue
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    assert pickle.loads(pickle.dumps(module)) is module if type(module) is not type(sys) else True
    listed = dir(module)
    missing = [n for n in listed if n not in vars(module)]
    assert not missing, (name, missing)
    members = dict(inspect.getmembers(module))
    for n in known().get(name, ()):
        if n in listed:
            assert members[n] is vars(module)[n], (name, n)
print("all")
"""


def test_those_of_all_modules_have_what_is_listed(python) -> None:
    done = python("-c", ALL, DOVETAIL_AS_JAX="1")
    assert done.stdout == "all\n", done.stderr


WRAPPED = """
import jax.numpy as jnp
names = dict(vars(jnp))
wrapped = {n: f for n, f in names.items() if callable(f) and not n.startswith("_")}
assert len(wrapped) > 390
from unittest import mock
with mock.patch("jax.numpy.hypot", lambda *xs: "patched"):
    assert jnp.hypot(3.0, 4.0) == "patched"
assert jnp.hypot(3.0, 4.0) == 5.0
"""


def test_functions_are_wrapped_and_patched_by_them(python) -> None:
    done = python("-c", WRAPPED, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr


NAMES = """
import pickle, sys
import jax, jax.numpy as jnp
from jax import lax
for f, module in (
    (jax.jit, "jax"), (jnp.sin, "jax.numpy"), (jnp.where, "jax.numpy"),
    (jnp.linalg.norm, "jax.numpy.linalg"), (jax.nn.relu, "jax.nn"), (lax.scan, "jax.lax"),
    (jax.random.normal, "jax.random"),
    (jax.tree_util.tree_map, "jax.tree_util"), (jnp.float32, "jax.numpy"),
):
    assert f.__module__ == module, (f, f.__module__)
    assert getattr(sys.modules[module], f.__qualname__) is f
    assert pickle.loads(pickle.dumps(f)) is f and module.encode() in pickle.dumps(f)
assert str(jnp.float32) == "<class 'jax.numpy.float32'>"
"""


def test_functions_and_scalar_types_say_where_jax_has_them(python) -> None:
    done = python("-c", NAMES, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr
    done = python("-c", "import dovetail.numpy as dnp; print(dnp.float32)")
    assert done.stdout == "<class 'dovetail.numpy.float32'>\n"


NOTHING = """
import importlib
import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import fuser, tpu as pltpu, triton as plt
import jax.experimental.pallas.mosaic_gpu, jax.export, jax.ffi
def told(statement):
    try:
        exec(statement)
    except Exception as e:
        print(type(e).__name__, e)
told("pl.pallas_call")
told("from jax.export import export")
told("jax.ffi.ffi_call")
told("pltpu.VMEM")
assert not hasattr(pl, "BlockSpec") and hasattr(jax, "export") and dir(pl) and not pl.__all__
"""


def test_modules_of_which_nothing_is_there_say_so_when_a_name_is_used(python) -> None:
    done = python("-c", NOTHING, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr
    call, export, ffi, vmem = done.stdout.splitlines()
    has = "JAX 0.10.2 has jax.{}. Dovetail does not have it: {} planned (docs/coverage.md)."
    kernels = "kernels written in Python are"
    assert call.startswith("AttributeError") and call.endswith(
        has.format("experimental.pallas.pallas_call", kernels)
    )
    assert export.startswith("ImportError") and export.endswith(
        has.format("export.export", "exported and stored programs are")
    )
    assert ffi.endswith(has.format("ffi.ffi_call", "calls of foreign functions are"))
    assert vmem.endswith(has.format("experimental.pallas.tpu", kernels))


KEYS = """
import jax, numpy as np
from jax._src.random.prng import PRNGKeyArray
key = jax.random.key(0)
assert isinstance(key, PRNGKeyArray) and isinstance(jax.random.split(key), PRNGKeyArray)
assert issubclass(type(key), PRNGKeyArray) and issubclass(PRNGKeyArray, jax.Array)
for other in (jax.random.PRNGKey(0), np.zeros(2), 3):
    assert not isinstance(other, PRNGKeyArray)
"""


def test_keys_are_of_the_class_that_libraries_ask_for(python) -> None:
    done = python("-c", KEYS, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr
