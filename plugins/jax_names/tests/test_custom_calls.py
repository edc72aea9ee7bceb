"""Calls of functions with custom rules in programs, as readers of programs find them."""

from __future__ import annotations

CALLS = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import custom_jvp_call_p, custom_vjp_call_p
from jax.extend import core, linear_util as lu

near = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5)
c = jnp.arange(2.0)

@jax.custom_jvp
def f(x, y):
    return x * y * c, x.astype(int)

@f.defjvp
def f_jvp(p, t):
    zero = np.zeros(p[0].shape, jax.dtypes.float0)
    return f(*p), (p[1] * t[0] + 3 * t[1], zero)

@jax.custom_vjp
def g(x, y):
    return x * y["a"], x

g.defvjp(lambda x, y: (g(x, y), (x, y)), lambda r, ct: (ct[0] * r[1]["a"], {"a": ct[0] * 3}))

@lu.transformation
def doubled(*args):
    outs = yield args, {}
    yield [outs[0] * 2, *outs[1:]]

# forward mode
eqn = jax.make_jaxpr(lambda x: f(x, c + x))(c).eqns[-1]
assert eqn.primitive is custom_jvp_call_p is core.primitives.custom_jvp_call_p
assert eqn.primitive.name == str(eqn.primitive) == "custom_jvp_call"
params = eqn.params
assert {*params} >= {"call_jaxpr", "jvp_jaxpr_fun", "num_consts", "symbolic_zeros"}
assert isinstance(params["call_jaxpr"], core.ClosedJaxpr) and params["symbolic_zeros"] is False
assert params["num_consts"] == 1 and len(eqn.invars) == 3
jaxpr, consts, zeros = params["jvp_jaxpr_fun"].call_wrapped(False, False)
near(jax.core.eval_jaxpr(jaxpr, consts, c, c + 1, c, 0 * c)[2], (c + 1) * c)
jaxpr, consts, zeros = params["jvp_jaxpr_fun"].call_wrapped(False, True)
assert len(jaxpr.invars) == 3 and zeros[0] is False
bound = eqn.primitive.get_bind_params(params)
assert {*bound} == {"subfuns", "symbolic_zeros"}
run = lambda x, y: eqn.primitive.bind(c, x, y, **bound)[0]
direct = lambda x, y: eqn.primitive.bind(c, x, y, **params)[0]
fun, jvp = bound["subfuns"]
other = {**bound, "subfuns": (doubled(fun), jvp)}
twice = lambda x, y: eqn.primitive.bind(c, x, y, **other)[0] / 2
for h in run, direct, jax.jit(run), twice:
    near(h(c, c + 1), c * (c + 1) * c)
near(fun.call_wrapped(c, c, c)[0], c * c * c)
near(jvp.call_wrapped(c, c, c, 0 * c, c, 0 * c)[2], c * c)
for h in run, direct, jax.jit(run):
    near(jax.jvp(h, (c, c + 1), (c * 0 + 1, c * 0))[1], c + 1)
    near(jax.grad(lambda x: h(x, c).sum())(c), c)
    near(jax.vmap(jax.grad(lambda x: h(x, c).sum()))(jnp.stack([c, c]))[1], c)
near(jax.grad(lambda x: twice(x, c).sum() * 2)(c), c)

# reverse mode
eqn = jax.make_jaxpr(lambda x: g(x, {"a": c + x}))(c).eqns[-1]
assert eqn.primitive is custom_vjp_call_p is core.primitives.custom_vjp_call_p
params = eqn.params
names = {"call_jaxpr", "fwd_jaxpr_thunk", "bwd", "num_consts", "out_trees", "symbolic_zeros"}
assert {*params} >= names and params["num_consts"] == 0
jaxpr, consts = params["fwd_jaxpr_thunk"].call_wrapped(False, False)
out_tree, residuals, operands = params["out_trees"]()
assert out_tree.num_leaves == 2
n = sum(i is None for i in operands)
found = jax.core.eval_jaxpr(jaxpr, consts, c, c + 1)
near(found[n], c * (c + 1))
rest = iter(found[:n])
res = [next(rest) if i is None else (c, c + 1)[i] for i in operands]
cts = params["bwd"].call_wrapped(*res, c + 2, c)
near(cts[0], (c + 1) * (c + 2))
near(cts[1], 3 * (c + 2))
bound = eqn.primitive.get_bind_params(params)
run = lambda x, y: eqn.primitive.bind(x, y, **bound)[0]
direct = lambda x, y: eqn.primitive.bind(x, y, **params)[0]
other = {**bound, "subfuns": (doubled(bound["subfuns"][0]), *bound["subfuns"][1:])}
twice = lambda x, y: eqn.primitive.bind(x, y, **other)[0] / 2
for h in run, direct, jax.jit(run), twice:
    near(h(c, c + 1), c * (c + 1))
for h in run, direct, jax.jit(run), lambda x, y: 2 * twice(x, y):
    near(jax.vjp(h, c, c + 1)[1](c + 2)[1], 3 * (c + 2))

# changed, and seen by traces and transformations
for eqn in jax.make_jaxpr(jax.vmap(lambda x: g(x, {"a": x})))(jnp.ones((3, 2))).eqns:
    assert eqn.primitive is custom_vjp_call_p and eqn.params["call_jaxpr"].in_avals[0].ndim == 2
(eqn,) = jax.make_jaxpr(jax.jit(lambda x: f(x, x)))(c).jaxpr.eqns
assert eqn.params["jaxpr"].eqns[-1].primitive is custom_jvp_call_p

class Seeing(jax.core.Trace):
    def __init__(self, parent):
        super().__init__()
        self.parent_trace, self.seen = parent, []
    def process_primitive(self, primitive, tracers, params):
        self.seen.append(primitive)
        return primitive.bind_with_trace(self.parent_trace, tracers, params)

class Dropping(Seeing):
    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        self.seen.append("jvp")
        with core.set_current_trace(self.parent_trace):
            return fun.call_wrapped(*tracers)
    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, tracers, out_trees, symbolic_zeros):
        self.seen.append("vjp")
        with core.set_current_trace(self.parent_trace):
            return fun.call_wrapped(*tracers)

for kind, want in (Seeing, [custom_jvp_call_p, custom_vjp_call_p]), (Dropping, ["jvp", "vjp"]):
    with core.take_current_trace() as parent:
        trace = kind(parent)
        with core.set_current_trace(trace):
            near(f(c, c)[0], c * c * c)
            near(g(c, {"a": c})[0], c * c)
    assert [x for x in trace.seen if x in want] == want
"""


def test_calls_of_functions_with_custom_rules(python) -> None:
    done = python("-W", "error", "-c", "import dovetail.jax\n" + CALLS)
    assert done.returncode == 0, done.stderr
