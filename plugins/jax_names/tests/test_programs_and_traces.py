"""Programs that authors read, interpret and build; traces, tracers and functions by hand."""

from __future__ import annotations

INTERPRETERS = """
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.api_util import safe_map
from jax.extend import core, linear_util as lu

near = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5)

def run(jaxpr, consts, *args, see):
    env = {}
    read = lambda v: v.val if isinstance(v, core.Literal) else env[v]
    safe_map(env.__setitem__, jaxpr.constvars, consts)
    safe_map(env.__setitem__, jaxpr.invars, args)
    for eqn in jaxpr.eqns:
        see(eqn)
        ins, params = safe_map(read, eqn.invars), eqn.primitive.get_bind_params(eqn.params)
        if eqn.primitive is core.primitives.jit_p:
            inner = params.pop("jaxpr")
            outs = run(inner.jaxpr, inner.consts, *ins, see=see)
        else:
            outs = eqn.primitive.bind(*ins, **params)
            outs = outs if eqn.primitive.multiple_results else [outs]
        safe_map(env.__setitem__, eqn.outvars, outs)
    return safe_map(read, jaxpr.outvars)

def f(x, ys):
    c, zs = lax.scan(lambda c, y: (c * y, jnp.sin(c)), x, ys)
    return jax.jit(lambda a: jnp.exp(a) + 1)(c), lax.cond(x > 0, jnp.sin, jnp.cos, zs)

args = 0.5, jnp.array([1.0, 2.0])
closed = jax.make_jaxpr(f)(*args)
names = []
see = lambda e: names.append(str(e.primitive))
interpreted = lambda *a: run(closed.jaxpr, closed.literals, *a, see=see)
for got, want in zip(interpreted(*args), f(*args)):
    near(got, want)
near(jax.grad(lambda x: interpreted(x, args[1])[0])(0.5), jax.grad(lambda x: f(x, args[1])[0])(0.5))
assert {"scan", "jit", "exp", "cond"} <= set(names)

inverses = {lax.exp_p: jnp.log, lax.tanh_p: jnp.arctanh}
def invert(jaxpr, consts, *outs):
    env = dict(zip(jaxpr.outvars, outs)) | dict(zip(jaxpr.constvars, consts))
    for eqn in jaxpr.eqns[::-1]:
        (out,) = [env[v] for v in eqn.outvars]
        params = dict(eqn.params)
        if eqn.primitive is core.primitives.jit_p:
            inner = params["jaxpr"]
            params["jaxpr"] = jax.make_jaxpr(lambda y: invert(inner.jaxpr, inner.consts, y))(out)
            (found,) = eqn.primitive.bind(out, **params)
        else:
            found = inverses[eqn.primitive](out)
        env[eqn.invars[0]] = found
    return [env[v] for v in jaxpr.invars]

g = lambda x: jax.jit(lambda y: jnp.exp(y))(jnp.tanh(x))
closed = jax.make_jaxpr(g)(0.3)
near(invert(closed.jaxpr, closed.consts, g(0.3))[0], 0.3)

def tagged(x):
    return core.jaxpr_as_fun(jax.make_jaxpr(jnp.sin)(x))(x)[0]
near(jax.jit(tagged)(1.0), np.sin(1))

# harvest: values by name out of a program
sow_p = core.Primitive("sow")
sow_p.def_impl(lambda x, *, name: x)
sow_p.def_abstract_eval(lambda x, *, name: x)
from jax.interpreters import ad
ad.deflinear(sow_p, lambda ct, name: [ct])
def reap(f):
    def reaped(*args):
        closed, found = jax.make_jaxpr(f)(*args), {}
        env = dict(zip(closed.jaxpr.invars, args))
        read = lambda v: v.val if type(v) is core.Literal else env[v]
        for eqn in closed.eqns:
            ins = [read(v) for v in eqn.invars]
            outs = eqn.primitive.bind(*ins, **eqn.params)
            if eqn.primitive is sow_p:
                found[eqn.params["name"]] = ins[0]
            env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
        return found
    return reaped
h = lambda x: sow_p.bind(x * x, name="square") + 1
near(reap(h)(3.0)["square"], 9)
near(jax.grad(lambda x: reap(h)(x)["square"])(3.0), 6)
"""

PROGRAMS = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core, source_info_util

@jax.named_scope("outer")
def doubled(x):
    return jax.named_call(jnp.sin, name="inner")(x) * 2
closed = jax.make_jaxpr(doubled)(1.0)
assert isinstance(closed, core.ClosedJaxpr) and isinstance(closed.jaxpr, core.Jaxpr)
sin, mul = closed.eqns
assert isinstance(sin, core.JaxprEqn) and [s.name for s in sin.source_info.name_stack.stack] == [
    "outer", "inner"]
assert str(mul.source_info.name_stack) == "outer"
assert "<string>" in source_info_util.summarize(mul.source_info)
two = mul.invars[1]
assert type(two) is core.Literal and two.val == 2 and two.aval.weak_type
assert all(isinstance(v, core.Var) for v in closed.jaxpr.invars + sin.outvars)
moved = mul.replace(source_info=sin.source_info)
assert moved.source_info == sin.source_info and moved.primitive is mul.primitive
jaxpr = closed.jaxpr
assert jaxpr.debug_info.func_name == "doubled" and closed.in_avals == jaxpr.in_avals
built = core.Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects,
                   jaxpr.debug_info, False)
assert built == jaxpr and built.name == jaxpr.name
other = closed.replace(jaxpr=jaxpr.replace(outvars=sin.outvars))
np.testing.assert_allclose(core.jaxpr_as_fun(other)(1.0), [np.sin(1)], rtol=1e-6)
found = jax.core.eval_jaxpr(jaxpr, [], 1.0, propagate_source_info=False)
np.testing.assert_allclose(found, [2 * np.sin(1)], rtol=1e-6)
v = core.gensym()(closed.in_avals[0])
eqn = core.new_jaxpr_eqn([v], [core.DropVar(v.aval)], sin.primitive, sin.params, core.no_effects)
assert isinstance(eqn.outvars[0], core.Var) and repr(eqn.outvars[0]) == "_"
nested = jax.make_jaxpr(jax.jit(lambda x: x + 1, donate_argnums=0))(1.0).jaxpr
(inner,) = core.subjaxprs(nested)
params = nested.eqns[0].params
assert inner is params["jaxpr"].jaxpr and [*core.jaxprs_in_params(params)] == [inner]
assert params["name"] == "<lambda>" and params["donated_invars"] == (True,)
loop = jax.make_jaxpr(lambda x: jax.lax.while_loop(lambda c: c < 3, lambda c: c + 1, x))(1.0)
assert [e.primitive.name for e in loop.eqns[-1].params["body_jaxpr"].eqns] == ["add"]
core.check_jaxpr(built)
aval = jax.core.ShapedArray((2, 3), jnp.float32, sharding=None, memory_space=None)
assert aval is jax.core.ShapedArray((2, 3), jnp.float32) and aval.vma == frozenset()
assert aval.to_tangent_aval() == aval and aval.strip_weak_type() == aval
assert core.mapped_aval(3, 1, aval).shape == (2,)
assert core.unmapped_aval(4, 1, aval).shape == (2, 4, 3)
assert core.mapped_aval(3, None, aval) is aval
assert core.valid_jaxtype(1) and not core.valid_jaxtype("a")
assert core.primal_dtype_to_tangent_dtype(jnp.int32) == jax.dtypes.float0
assert core.concrete_or_error(int, 3.5) == 3
try:
    jax.jit(lambda x: core.concrete_or_error(int, x, "It counts."))(2)
except jax.errors.ConcretizationTypeError as e:
    assert "It counts." in str(e)
else:
    raise AssertionError
"""

FORMS = """
import jax
import jax.numpy as jnp
from jax.extend import core

x = jnp.arange(3.0)
inner = jax.jit(lambda a, b: a * b, donate_argnums=0)
eqn = jax.make_jaxpr(lambda x: inner(x, x + 1))(x).eqns[-1]
given = eqn.params
assert eqn.primitive.name == "jit" and given["name"] == "<lambda>"
assert isinstance(given["jaxpr"], core.ClosedJaxpr) and given["donated_invars"] == (True, False)
assert given["inline"] is given["keep_unused"] is False and given["compiler_options_kvs"] == ()
assert len(given["in_shardings"]) == 2 and given["in_layouts"] == (None, None)
assert len(given["out_shardings"]) == len(given["out_layouts"]) == 1
names = ["in_shardings", "out_shardings", "in_layouts", "out_layouts", "inline", "keep_unused"]
again = lambda x: eqn.primitive.bind(
    x, x, **{**given, **{n: given[n] for n in names}, "donated_invars": (False, False)})[0]
assert again(x)[2] == 4 and jax.grad(lambda x: again(x).sum())(x)[2] == 4

twice = lambda x: jnp.sin(jnp.sin(x))
slope = jax.grad(lambda x: jax.checkpoint(twice)(x).sum())
for wanted, f in (False, jax.checkpoint(twice)), (True, slope):
    eqn = jax.make_jaxpr(f)(x).eqns[-1]
    assert eqn.primitive.name == "remat2" and eqn.params["differentiated"] is wanted
    assert set(eqn.params) == {"jaxpr", "prevent_cse", "differentiated", "policy"}
program = jax.make_jaxpr(jax.checkpoint(twice))(x).eqns[0].params["jaxpr"]
assert len(program.eqns) == 2 and len(program.invars) == len(program.outvars) == 1
assert jax.core.eval_jaxpr(program, (), x)[0].shape == (3,)
assert core.jaxpr_as_fun(core.ClosedJaxpr(program, ()))(x)[0][1] == twice(x)[1]
"""

TRACES = """
import warnings
import jax
import jax.extend.backend
import jax.numpy as jnp
import numpy as np
from jax.extend import core, linear_util as lu
from jax.interpreters import ad, batching, partial_eval as pe, xla

state = core.get_opaque_trace_state(convention="any")
assert state == core.get_opaque_trace_state()
seen = []
def look(kind):
    def f(x):
        assert isinstance(x, jax.core.Tracer) and isinstance(x, kind), type(x)
        top = core.find_top_trace((x,))
        assert x._trace.main is top.main and isinstance(top, jax.core.Trace)
        assert core.get_opaque_trace_state() != state
        assert core.unsafe_am_i_under_a_vmap_DO_NOT_USE() == (kind is batching.BatchTracer)
        seen.append(kind)
        return x * 1
    return f
jax.jvp(look(ad.JVPTracer), (1.0,), (1.0,))
jax.vmap(look(batching.BatchTracer))(jnp.ones(2))
jax.jit(look(pe.DynamicJaxprTracer))(1.0)
assert len(seen) == 3 and not core.unsafe_am_i_under_a_jit_DO_NOT_USE()
jax.jit(lambda x: seen.append(core.unsafe_am_i_under_a_jit_DO_NOT_USE()))(1.0)
assert seen[-1]

class Counter(jax.core.Trace):
    def __init__(self, parent):
        super().__init__()
        self.parent_trace, self.names = parent, []
    def process_primitive(self, primitive, tracers, params):
        self.names.append(str(primitive))
        return primitive.bind_with_trace(self.parent_trace, tracers, params)
with core.take_current_trace() as parent:
    counter = Counter(parent)
    with core.set_current_trace(counter):
        y = jax.lax.sin(jax.lax.mul(2.0, 3.0))
assert counter.names == ["mul", "sin"]
np.testing.assert_allclose(y, np.sin(6), rtol=1e-6)

class Seen(Counter):
    def process_primitive(self, primitive, tracers, params):
        self.names.append((str(primitive), sorted(params)))
        return super().process_primitive(primitive, tracers, params)
    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        self.names.append("custom")
        params = dict(subfuns=(fun, jvp), symbolic_zeros=symbolic_zeros)
        return primitive.bind_with_trace(self.parent_trace, tuple(tracers), None, params)
@jax.custom_jvp
def five(x):
    return jnp.sin(x)
five.defjvp(lambda p, t: (jnp.sin(p[0]), 5 * t[0]))
def seen(f):
    def run(*args):
        with core.take_current_trace() as parent:
            trace = Seen(parent)
            with core.set_current_trace(trace):
                out = f(*args)
        names.append([n for n in trace.names if type(n) is tuple or n == "custom"])
        return out
    return run
names = []
loop = lambda x: jax.lax.while_loop(lambda c: c < 2 * x, lambda c: c + x, x)
assert seen(loop)(1.0) == 2 and jax.jit(seen(loop))(1.0) == 2
(name, params), = [n for n in names[0] if n[0] == "while"]
assert params == ["body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts"]
seen(lambda x: jnp.sum(jnp.broadcast_to(x, (2,))))(jnp.float32(1))
found = dict(n for n in names[-1])
assert found["broadcast_in_dim"] == ["broadcast_dimensions", "shape", "sharding"], found
assert "out_sharding" in found["reduce_sum"]
assert seen(five)(0.0) == 0 and names[-1] == ["custom"]
assert jax.grad(seen(five))(0.0) == 5
seen(jax.jit(five))(0.0)
assert "inline" in dict(n for n in names[-1] if n != "custom")["jit"]

x = jnp.float32(0.5)
f = lambda x, y: [x * y, y]
values, tangents = ad.jvp(f, (x, x), (x, ad.Zero(jax.typeof(x))), instantiate=False)
assert float(tangents[0]) == 0.25 and type(tangents[1]) is ad.Zero
values, f_jvp = ad.linearize(lambda x: [x * x], (x,))
assert float(f_jvp(x)[0]) == 0.5

f = lambda x, y: [jnp.sin(x), y * 2, x * y, x]
fun = lu.wrap_init(f, debug_info=jax.api_util.debug_info("it", f, (1, 2), {}))
assert fun.debug_info.arg_names == ("x", "y") and fun.debug_info.func_name == "<lambda>"
info = fun.debug_info
known, unknown = pe.PartialVal.known(jnp.float32(2)), pe.PartialVal.unknown(jax.typeof(x))
jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(fun, [unknown, known])
assert [o.is_known() for o in outs] == [False, True, False, False] and outs[1].get_known() == 4
assert [e.primitive.name for e in jaxpr.eqns] == ["sin", "mul"] and len(jaxpr.outvars) == 3
np.testing.assert_allclose(jax.core.eval_jaxpr(jaxpr, consts, x)[1], 1)
jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(fun, [unknown, known], instantiate=True)
assert not any(o.is_known() for o in outs) and len(jaxpr.outvars) == 4
jaxpr, avals, consts = pe.trace_to_jaxpr_dynamic(fun, [jax.typeof(x)] * 2)
assert len(jaxpr.eqns) == 3 and len(avals) == 4 and not consts
reduced, used = pe.dce_jaxpr(jaxpr, [True, False, False, False])
assert used == [True, False] and len(reduced.eqns) == 1

@lu.transformation
def doubled(by, *args):
    outs = yield [a * by for a in args], {}
    yield [o + 1 for o in outs]
@lu.transformation_with_aux
def counted(*args):
    outs = yield args, {}
    yield outs, len(outs)
plain = lu.wrap_init(lambda *xs: list(xs), debug_info=info)
wrapped, count = counted(doubled(plain, 3))
assert wrapped.call_wrapped(1, 2) == [4, 7] and count() == 2 and wrapped.f is plain.f
assert doubled(plain, 3) == doubled(plain, 3) != doubled(plain, 4)
flat, out_tree = jax.api_util.flatten_fun(
    lu.wrap_init(lambda a, *, b: {"c": a["x"] + b}, debug_info=info),
    jax.tree.structure((({"x": 0},), {"b": 0})))
assert flat.call_wrapped(1, 2) == [3] and jax.tree.unflatten(out_tree(), [3]) == {"c": 3}
try:
    lu.transformation_with_aux(lambda: (yield), plain)[1]()
except lu.StoreException:
    pass
else:
    raise AssertionError
tree = jax.tree.structure((1, {"a": 2, "b": 3}))
assert jax.api_util.flatten_axes("n", tree, (0, None)) == [0, None, None]
assert jax.api_util.rebase_donate_argnums((0, 3), (1,)) == (0, 2)
tree = jax.tree.structure(((1, {"a": 2}), {}))
assert jax.api_util.donation_vector((0,), (), tree) == (True, False)
twice = lu.wrap_init(lambda x: [x * 2], debug_info=info)
call = jax.jit(lambda x: core.primitives.call_p.bind(x, subfuns=(twice,)))
assert call(3.0) == [6]
found = xla.apply_primitive(core.primitives.sin_p, 1.0, accuracy=None)
np.testing.assert_allclose(found, np.sin(1), rtol=1e-6)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert jax.core.DropVar is core.DropVar
    lu.wrap_init(lambda x: [x])
    core.Jaxpr([], [], [], [])
assert "jax.extend.core.DropVar" in str(caught[0].message) and len(caught) == 3
assert all("api_util.debug_info" in str(w.message) for w in caught[1:])
assert all(w.filename == "<string>" for w in caught)
try:
    jax.core.get_aval
except AttributeError as e:
    assert "jax.typeof" in str(e)
backend, client = xla.Backend, jax.extend.backend.get_backend()
assert isinstance(client, backend)
assert np.float32 in core.array_types and jax.Array not in core.array_types
for error in core.InconclusiveDimensionOperation, jax.errors.InconclusiveDimensionOperation:
    assert issubclass(error, Exception) and "UnexpectedTracerError" in dir(jax.errors)
kinds = []
look = lambda *xs: [kinds.append(tuple(isinstance(x, pe.JaxprTracer) for x in xs)), xs[0]][1:]
pe.trace_to_jaxpr_nounits(lu.wrap_init(look, debug_info=info), [unknown, known])
jax.jit(lambda x: look(x, x)[0])(1.0)
assert kinds == [(True, False), (False, False)]
(eqn,) = jax.make_jaxpr(jax.device_put)(1.0).eqns
assert eqn.primitive is core.primitives.device_put_p
assert core.primitives.create_token_p is jax.lax.create_token_p
for p in (jax.lax.after_all_p, jax.lax.select_and_scatter_p):
    batching.primitive_batchers[p] = lambda args, dims: None
try:
    core.primitives.create_token_p.bind()
except NotImplementedError as e:
    assert "keep their order without tokens" in str(e)
else:
    raise AssertionError
class Boxed:
    def __init__(self, x, name):
        self.x, self.name = x, name
batching.register_vmappable(
    Boxed, int, int, lambda cont, _, b, spec: Boxed(cont(b.x, spec), b.name),
    lambda cont, size, b, spec: Boxed(cont(size, b.x, spec), b.name), None)
out = jax.vmap(lambda b, y: Boxed(b.x * y, b.name))(Boxed(jnp.ones((3, 2)), "it"), jnp.arange(3.0))
assert out.x.shape == (3, 2) and out.name == "it" and out.x[2, 0] == 2
batching.unregister_vmappable(Boxed)
assert jax.core.max_dim(2, 3) == 3 and "sin_p" in dir(core.primitives)
fun = jax.custom_derivatives.custom_jvp_call_p
assert fun is core.primitives.custom_jvp_call_p
jvp = lu.wrap_init(lambda x, t: [x, 5 * t], debug_info=info)
f = lambda x: fun.bind(x, subfuns=(plain, jvp), symbolic_zeros=False)[0]
assert jax.grad(f)(1.0) == 5
"""


def under_the_hook(python, code: str) -> None:
    done = python("-W", "error", "-c", "import dovetail.jax\n" + code)
    assert done.returncode == 0, done.stderr


def test_interpreters_over_programs(python) -> None:
    under_the_hook(python, INTERPRETERS)


def test_programs_are_read_and_built(python) -> None:
    under_the_hook(python, PROGRAMS)


def test_traces_and_functions_by_hand(python) -> None:
    under_the_hook(python, TRACES)


def test_programs_of_calls_are_in_jaxs_form(python) -> None:
    under_the_hook(python, FORMS)


def test_the_configuration_and_texts_are_read_as_jaxs(python) -> None:
    code = """
import dovetail.jax, jax
values = jax.config.values
assert values["jax_enable_x64"] is False and "jax_debug_nans" in list(values)
with jax.enable_x64(True):
    assert values["jax_enable_x64"]
assert "jax_nothing" not in values
try:
    jax.config.jax_enable_x64 = True
except AttributeError as e:
    assert "config.update('jax_enable_x64', True)" in str(e), e
else:
    assert False
jaxpr = jax.make_jaxpr(jax.numpy.sin)(1.0)
assert jaxpr.pretty_print(use_color=False) == str(jaxpr)
assert jaxpr.jaxpr.pretty_print(source_info=False) == str(jaxpr.jaxpr)
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
