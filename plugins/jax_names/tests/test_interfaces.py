"""Modules that few programs need, attributes that libraries read, and parameters as in JAX."""

from __future__ import annotations

from .conftest import Run

PREAMBLE = """
import inspect
import numpy as np
import dovetail.jax
import jax, jax.extend, jax.numpy as jnp
from jax import lax
"""

MODULES = """
from jax.extend import sharding, xla
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
seen = []
def look(module):
    seen.append(module)
xla.register_hlo_module_transformation(look, name="look", platforms="cpu")
assert jax.jit(lambda x: x * 2 + 1)(jnp.ones(3))[0] == 3 and type(seen[0]) is bytes
assert xla.clear_hlo_module_transformation("look")
assert not xla.clear_hlo_module_transformation("look")
n = len(seen)
assert jax.jit(lambda x: x * 3 + 1)(jnp.ones(3))[0] == 4 and len(seen) == n
def refused(error, f, words):
    try:
        f()
    except error as e:
        assert words in str(e), e
    else:
        raise AssertionError(words)
add = xla.register_hlo_module_transformation
refused(TypeError, lambda: add(3, name="x"), "takes a function, got 3")
refused(TypeError, lambda: add(look, name="x", stage=0), "must be a PipelineStage, got 0")
refused(ValueError, lambda: add(look, name="x", platforms="abacus"), "there are cpu")
where = NamedSharding(Mesh(np.array(jax.devices()[:1]), ("a",)), P("a"))._to_xla_hlo_sharding(1)
text = sharding.get_serialized_proto_from_hlo_sharding(where)
assert sharding.get_hlo_sharding_from_serialized_proto(text) == where
assert sharding.get_op_sharding_from_serialized_proto(text).type.name == "REPLICATED"
import jax.experimental.key_reuse, jax.cloud_tpu_init
from jax.experimental.sparse import BCOO
from jax.experimental.sparse.bcoo import BCOO as same, bcoo_dot_general
from jax.experimental.sparse.bcsr import BCSR
from jax.experimental.sparse.transform import sparsify
from jax.experimental.sparse.util import CuSparseEfficiencyWarning
from jax.experimental.sparse.random import random_bcoo
assert same is BCOO
def missing(name):
    import importlib
    refused(ImportError, lambda: importlib.import_module(name), f"JAX 0.10.2 has {name}.")
for name in "rnn", "control_deps":
    missing(f"jax.experimental.{name}")
"""

ATTRIBUTES = """
rule = lambda p, t: (p[0], t[0])
f = jax.custom_jvp(lambda x: x)
assert f.jvp is None and f.nondiff_argnums == () and f.defjvp(jvp=rule) is rule and f.jvp is rule
assert f.fun(2) == 2 and f.symbolic_zeros is False
g = jax.custom_vjp(lambda n, x: x, nondiff_argnums=(0,))
assert g.fwd is None and g.bwd is None
fwd, bwd = lambda n, x: (x, None), lambda n, r, ct: (ct,)
g.defvjp(fwd, bwd, symbolic_zeros=False, optimize_remat=True)
assert (g.fwd, g.bwd, g.optimize_remat, g.nondiff_argnums) == (fwd, bwd, True, (0,))
h = jax.custom_batching.custom_vmap(lambda x: x)
mapped = lambda size, batched, x: (x, batched[0])
h.def_vmap(vmap_rule=mapped)
assert h.vmap_rule is mapped
s = jax.ShapeDtypeStruct((2,), jnp.float32, weak_type=True)
assert s.update(shape=(3,)) == jax.ShapeDtypeStruct((3,), jnp.float32, weak_type=True)
like = jax.ShapeDtypeStruct.like(jnp.ones((2, 3), jnp.int32))
assert like.shape == (2, 3) and like.dtype == jnp.int32 and like.sharding is not None
closed = jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(1.0)
assert closed.pretty_print(use_color=False) == str(closed)
assert closed.jaxpr.pretty_print(source_info=False) == str(closed.jaxpr)
assert (closed.in_avals[0].nbytes, closed.in_avals[0].itemsize) == (4, 4)
from jax.experimental.xla_metadata import set_xla_metadata
def tagged(x):
    with set_xla_metadata(tag="a"):
        return jnp.sin(x)
def again(program):
    def run(x):
        env = dict(zip(program.jaxpr.invars, [x]))
        for eqn in program.eqns:
            with eqn.ctx.manager:
                env[eqn.outvars[0]] = eqn.primitive.bind(env[eqn.invars[0]], **eqn.params)
        return env[program.jaxpr.outvars[0]]
    return run
program = jax.make_jaxpr(tagged)(1.0)
assert program.eqns[0].ctx.annotations == {"tag": "a"}
assert 'tag = "a"' in jax.jit(again(program)).lower(1.0).as_text()
from jax.interpreters import partial_eval as pe
two = jax.make_jaxpr(lambda x, y: (jnp.sin(x), y))(1.0, 2.0).jaxpr
assert pe.dce_jaxpr(two, [True, False])[1] == [True, False]
assert pe.dce_jaxpr(two, [True, False], instantiate=True)[1] == [True, True]
assert jax.extend.core.primitives.linear_solve_p is lax.linear_solve_p
ref = jax.empty_ref(jax.ShapeDtypeStruct((2,), jnp.float32), None)
assert jax.ref.get(ref).shape == (2,)
assert jnp.arange(3).astype(jnp.float32, True).dtype == jnp.float32
x = jnp.arange(6.0).reshape(2, 3)
np.testing.assert_allclose(jax.scipy.special.softmax(x).sum(), 1.0, rtol=1e-6)
np.testing.assert_allclose(jax.scipy.special.log_softmax(x, axis=0)[0, 0], -3.04858735, rtol=1e-6)
"""

SIGNATURES = """
KEYWORD = {
    lax.full: "sharding", lax.empty: "out_sharding", lax.broadcasted_iota: "out_sharding",
    lax.mul: "out_dtype", lax.rng_bit_generator: "out_sharding", jax.random.key: "impl",
}
for f, name in KEYWORD.items():
    assert inspect.signature(f).parameters[name].kind.name == "KEYWORD_ONLY", f
for f, name in {lax.mulhi: "x", lax.optimization_barrier: "operand"}.items():
    assert inspect.signature(f).parameters[name].kind.name == "POSITIONAL_ONLY", f
assert inspect.signature(jnp.einsum_path).parameters["optimize"].default == "auto"
assert list(inspect.signature(jax.Array.astype).parameters)[1:] == ["dtype", "copy", "device"]
"""


def test_modules(python: Run) -> None:
    done = python("-c", PREAMBLE + MODULES)
    assert done.returncode == 0, done.stderr


def test_attributes_and_parameters(python: Run) -> None:
    done = python("-c", PREAMBLE + ATTRIBUTES + SIGNATURES)
    assert done.returncode == 0, done.stderr
