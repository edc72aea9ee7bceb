"""What JAX has deprecated and Dovetail keeps is deprecated in programs that import jax."""

from __future__ import annotations

import dovetail as dt

PROGRAM = """
import warnings
import jax

for given in ({"backend": "cpu"}, {"device": jax.devices()[0]}):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f = jax.jit(lambda x: x + 1, **given)
    assert [w.category for w in found] == [DeprecationWarning], found
    assert found[0].filename == "<string>" and "device_put" in str(found[0].message)
    assert f(1) == 2
with warnings.catch_warnings():
    warnings.simplefilter("error")
    jax.jit(lambda x: x + 1)(1)
"""


def test_places_of_compiled_functions(python) -> None:
    done = python("-c", PROGRAM, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr
    assert dt.jit(lambda x: x + 1, backend="cpu")(1) == 2  # no warning, which would be an error


NAMES = """
import warnings
import jax

def deprecated(name):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        value = getattr(jax.core, name)
    assert [w.category for w in found] == [DeprecationWarning], (name, found)
    return value

assert deprecated("trace_ctx").is_top_level()
assert not jax.jit(lambda: int(deprecated("trace_ctx").is_top_level()))()
is_constant = deprecated("is_constant_dim")
assert is_constant(3) and not is_constant("n")
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    from jax.experimental.shard_map import shard_map
assert found and "Use jax.shard_map." in str(found[0].message), found
mesh, spec = jax.sharding.Mesh(jax.devices()[:1], ("i",)), jax.sharding.PartitionSpec("i")
f = shard_map(lambda x: 2 * x, mesh, spec, spec, check_rep=False)
assert f(jax.numpy.ones(2)).tolist() == [2, 2]
"""


def test_names_of_modules(python) -> None:
    done = python("-c", NAMES, DOVETAIL_AS_JAX="1")
    assert done.returncode == 0, done.stderr
