"""A library's own primitive with its rules, and rules for Dovetail's own, under the hook."""

from __future__ import annotations

PRIMITIVE = """
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core
from jax.extend.core import Primitive
from jax.interpreters import ad, batching

def near(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5)

muladd_p = Primitive("muladd")
again_p = Primitive("muladd")  # names may repeat
asked = []

@muladd_p.def_impl
def impl(x, y, z):
    return jnp.asarray(x) * y + z

@muladd_p.def_abstract_eval
def _type(x, y, z):
    asked.append(x)
    return jax.core.ShapedArray(x.shape, x.dtype, weak_type=x.weak_type, sharding=None)

def jvp(primals, tangents):
    assert type(primals) is tuple and type(tangents) is tuple
    x, y, z = primals
    xt, yt, zt = map(ad.instantiate_zeros, tangents)
    return muladd_p.bind(x, y, z), muladd_p.bind(xt, y, muladd_p.bind(x, yt, zt))

def transpose(ct, x, y, z):
    if type(ct) is ad.Zero:
        return None
    zero = jnp.zeros_like(ct)
    in_x, in_y = map(ad.is_undefined_primal, (x, y))
    return [
        muladd_p.bind(ct, y, zero) if in_x else None,
        muladd_p.bind(x, ct, zero) if in_y else None,
        ct if ad.is_undefined_primal(z) else ad.Zero,
    ]

def batch(args, dims):
    size = next(x.shape[d] for x, d in zip(args, dims) if d is not batching.not_mapped)
    return muladd_p.bind(*[batching.bdim_at_front(x, d, size) for x, d in zip(args, dims)]), 0

ad.primitive_jvps[muladd_p] = jvp
ad.primitive_transposes[muladd_p] = transpose
batching.primitive_batchers[muladd_p] = batch
"""

USES = """
from jax.interpreters import mlir
mlir.register_lowering(muladd_p, mlir.lower_fun(lambda x, y, z: x * y + z, multiple_results=False))
assert ad.primitive_jvps[muladd_p] is jvp and muladd_p in ad.primitive_jvps
assert muladd_p.impl is impl and not muladd_p.multiple_results and repr(muladd_p) == "muladd"
f = muladd_p.bind
x = jnp.array([0.5, 1.0, 2.0])
g = lambda x: f(x, jnp.sin(x), x + 1).sum()
want = np.sin(x) + x * np.cos(x) + 1
near(f(2.0, 3.0, 4.0), 10)
near(jax.jit(f)(2.0, 3.0, 4.0), 10)
near(jax.grad(g)(x), want)
near(jax.jit(jax.grad(g))(x), want)
near(jax.jvp(g, (x,), (x,))[1], (want * x).sum())
near(jax.vmap(jax.grad(lambda s: f(s, jnp.sin(s), s + 1)))(x), want)
near(jax.grad(lambda x: jax.vmap(lambda s: f(s, jnp.sin(s), s + 1))(x).sum())(x), want)
near(jax.hessian(lambda s: f(s, s, s))(2.0), 2)
step = lambda c, x: (f(c, x, jnp.float32(1)), f(x, x, c))
near(jax.lax.scan(step, jnp.float32(1), x)[0], 6)
near(jax.jit(jax.grad(lambda c: jax.lax.scan(step, c, x)[0]))(jnp.float32(1)), 1)
before = len(asked)
for _ in range(2):
    jax.make_jaxpr(lambda x: f(x, x, x))(1.0)
assert len(asked) == before + 2
eqn = jax.make_jaxpr(lambda x: f(x, x, x))(1.0).eqns[0]
assert eqn.primitive is muladd_p and isinstance(eqn.primitive, Primitive) and not eqn.effects
for bad in (lambda: again_p.bind(1.0), lambda: jax.make_jaxpr(again_p.bind)(1.0)):
    try:
        bad()
    except NotImplementedError as e:
        assert "muladd" in str(e)
    else:
        raise AssertionError
del ad.primitive_jvps[muladd_p]
assert muladd_p not in ad.primitive_jvps
"""

KINDS = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive, primitives
from jax.interpreters import ad, batching
from jax.interpreters import partial_eval as pe

def made(name, impl, several=False):
    p = Primitive(name)
    p.multiple_results = several
    p.def_impl(impl)
    p.def_abstract_eval(lambda *avals, **_: list(avals) if several else avals[0])
    return p

near = np.testing.assert_allclose
x = jnp.arange(6.0).reshape(2, 3)

double_p = made("double", lambda x: 2 * x)
ad.deflinear(double_p, lambda ct: [2 * ct])
batching.defvectorized(double_p)
near(jax.grad(lambda x: (double_p.bind(x) ** 2).sum())(x), 8 * x)
near(jax.vmap(double_p.bind, in_axes=1, out_axes=1)(x), 2 * x)

scaled_p = made("scaled", lambda x, y: x * y)
ad.defbilinear(scaled_p, lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
batching.defbroadcasting(scaled_p)
f = lambda x, y: scaled_p.bind(x, y).sum()
near(jax.grad(f)(x, x + 1), x + 1)
near(jax.grad(f, 1)(x, x + 1), x)
near(jax.vmap(scaled_p.bind, in_axes=(0, None))(x, x[0]), x * x[0])
near(jax.vmap(scaled_p.bind, in_axes=(1, 0))(x, x.T + 1), (x * (x + 1)).T)

cubed_p = made("cubed", lambda x: x**3)
ad.defjvp(cubed_p, lambda g, x: 3 * g * x**2)
near(jax.jvp(cubed_p.bind, (2.0,), (1.0,))[1], 12)
ad.defjvp2(cubed_p, lambda g, out, x: 3 * g * out / x)
near(jax.grad(cubed_p.bind)(2.0), 12)

total_p = Primitive("total")
total_p.def_impl(lambda x, *, axes: jnp.sum(x, axes))
batching.defreducer(total_p)
y = jnp.arange(24.0).reshape(2, 3, 4)
near(jax.vmap(lambda x: total_p.bind(x, axes=(1,)), in_axes=1)(y), y.sum(2).T)

seen = []
def named(size, name, trace_type, args, dims, **params):
    seen.append((size, name, dims))
    return list(args), list(dims)
both_p = made("both", lambda x, y: [x, y], several=True)
batching.axis_primitive_batchers[both_p] = named
jax.vmap(both_p.bind, in_axes=(0, None), axis_name="i")(x, 3.0)
def fancy(axis, args, dims, **params):
    seen.append((axis.size, axis.name, dims))
    return list(args), list(dims)
batching.fancy_primitive_batchers[both_p] = fancy
jax.vmap(both_p.bind, in_axes=(None, 0))(3.0, x)
assert seen == [(2, "i", (0, None)), (2, None, (None, 0))]

# Rules that look at the axis are called where no operand is mapped, too, in sub-programs as well.
size_p = made("size_of", lambda x, *, name: x)
def sized(axis, args, dims, *, name):
    seen.append((axis.name, axis.spmd_name, axis.explicit_mesh_axis, dims))
    (arg,), (dim,) = args, dims
    if axis.name != name:
        return size_p.bind(arg, name=name), dim
    return arg * axis.size, dim
batching.fancy_primitive_batchers[size_p] = sized
del seen[:]
sum_p = made("with_size", lambda x: x)
batching.axis_primitive_batchers[sum_p] = lambda size, name, kind, args, dims: (
    args[0] + size, dims[0])
of = lambda y: y + size_p.bind(2.0, name="i") + jax.jit(lambda: sum_p.bind(1.0))()
near(jax.vmap(of, axis_name="i", spmd_axis_name="m")(jnp.zeros(3)), [10, 10, 10])
assert seen == [("i", ("m",), None, (None,))]
near(jax.jit(jax.vmap(lambda y: jax.vmap(of)(jnp.stack([y, y])), axis_name="i"))(jnp.zeros(3)),
     np.full((3, 2), 2 * 3 + 1 + 2))
inside = lambda y: jax.jit(lambda: size_p.bind(jnp.ones(2), name="i"))() + y
near(jax.vmap(inside, axis_name="i")(jnp.zeros(4)), np.full((4, 2), 4))
del batching.fancy_primitive_batchers[size_p]
assert size_p not in batching.fancy_primitive_batchers

zeros = []
def first(ct, x, y):
    zeros.append([type(c) is ad.Zero for c in ct])
    return [ct[0], ad.Zero(y.aval)]
ad.primitive_jvps[both_p] = lambda primals, tangents: (
    both_p.bind(*primals), both_p.bind(*map(ad.instantiate_zeros, tangents)))
ad.primitive_transposes[both_p] = first
near(jax.grad(lambda x: both_p.bind(x, x)[0])(2.0), 1)
assert zeros == [[False, True]]

# What Dovetail's own primitives do, called and replaced by JAX's conventions.
zero = ad.Zero(jax.core.ShapedArray((), jnp.float32))
out, tangent = ad.primitive_jvps[primitives.sin_p]((0.5,), (2.0,), accuracy=None)
near([out, tangent], [np.sin(0.5), 2 * np.cos(0.5)], rtol=1e-6)
assert type(ad.primitive_jvps[primitives.sin_p]((0.5,), (zero,), accuracy=None)[1]) is ad.Zero
near(ad.get_primitive_transpose(primitives.neg_p)(3.0, ad.UndefinedPrimal(zero.aval)), [-3])
try:
    ad.get_primitive_transpose(primitives.sin_p)
except NotImplementedError as e:
    assert "sin" in str(e)
assert primitives.sin_p not in ad.primitive_transposes
out, dim = batching.primitive_batchers[primitives.sin_p]((x,), (1,), accuracy=None)
near(out, np.sin(x), rtol=1e-6)
assert dim == 1
ad.primitive_transposes[primitives.stop_gradient_p] = lambda ct, x: [ct]
assert primitives.stop_gradient_p in ad.primitive_transposes
ours = ad.primitive_jvps[primitives.tanh_p]
ad.primitive_jvps[primitives.tanh_p] = lambda *a, **k: (seen.append("tanh"), ours(*a, **k))[1]
near(jax.grad(jnp.tanh)(0.3), 1 - np.tanh(0.3) ** 2, rtol=1e-6)
assert seen[-1] == "tanh" and len(ad.primitive_jvps) > 100
assert pe.dce_rules[primitives.scan_p] is not None and "add" in map(str, ad.primitive_jvps)
for tree in (zero, ad.UndefinedPrimal(zero.aval)):
    leaves, structure = jax.tree.flatten((tree, 1))
    assert leaves == [1] and type(jax.tree.unflatten(structure, leaves)[0]) is type(tree)
near(ad.instantiate_zeros(zero), 0)
near(ad.add_tangents(zero, 2.0), 2)
near(ad.add_jaxvals(1.0, 2.0), 3)
"""


def under_the_hook(python, code: str) -> None:
    done = python("-W", "error", "-c", "import dovetail.jax\n" + code)
    assert done.returncode == 0, done.stderr


def test_a_primitive_with_all_rules(python) -> None:
    under_the_hook(python, PRIMITIVE + USES)


def test_what_fills_registries_and_what_they_read(python) -> None:
    under_the_hook(python, KINDS)


SUBCLASSES = """
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

class Effect(jax.extend.core.Effect):
    pass

noted = Effect()
mlir.lowerable_effects.add_type(Effect)

class Tag(Primitive):
    multiple_results = True

    def __init__(self, name, factor):
        super().__init__(name)
        self.factor = factor

    def impl(self, *args, **params):
        return [a * self.factor for a in args]

    def abstract_eval(self, *avals, **params):
        return list(avals), {noted} if params.get("noted") else set()

    def get_bind_params(self, params):
        return super().get_bind_params(params)

one, two = Tag("tag", 1.0), Tag("tag", 2.0)
for p in (one, two):
    mlir.register_lowering(p, mlir.lower_fun(p.impl, multiple_results=True))
    batching.primitive_batchers[p] = lambda args, dims, p=p, **kw: (p.bind(*args, **kw), dims)
    ad.primitive_jvps[p] = lambda xs, ts, p=p, **kw: (p.bind(*xs, **kw), p.bind(*ts, **kw))
    ad.primitive_transposes[p] = lambda cts, *xs, p=p: [
        ct if type(ct) is ad.Zero else p.bind(ct)[0] for ct in cts
    ]
assert one.multiple_results and one.bind(1.0, 2.0) == [1.0, 2.0]
assert two.bind(1.0, 2.0) == [2.0, 4.0] and two.impl(3.0) == [6.0]
f = lambda x: two.bind(x, x * x)[1]
assert jax.jit(f)(3.0) == 18.0 and jax.vmap(f)(np.arange(3.0)).tolist() == [0, 2, 8]
assert jax.grad(f)(3.0) == 12.0 and jax.jvp(f, (3.0,), (1.0,))[1] == 12.0
assert jax.make_jaxpr(lambda x: two.bind(x, noted=True))(1.0).effects == {noted}
assert not jax.make_jaxpr(lambda x: two.bind(x))(1.0).effects
two.def_abstract_eval(lambda *avals, **params: list(avals))  # takes the method's place
assert jax.make_jaxpr(lambda x: two.bind(x))(2.0).out_avals[0].shape == ()

class Named(Primitive):
    def bind(self, *args, **params):
        return super().bind(*args, how="mine", **params)

named = Named("named")
named.def_abstract_eval(lambda x, how: x)
assert not named.multiple_results
assert jax.make_jaxpr(named.bind)(1.0).eqns[0].params == {"how": "mine"}
"""


def test_methods_of_subclasses_are_rules(python) -> None:
    under_the_hook(python, "import jax\n" + SUBCLASSES)


IMPL = """
from jax import lax
seen = []
assert float(lax.sin_p.impl(0.0, accuracy=None)) == 0.0

@lax.sin_p.def_impl
def impl(x, **params):
    seen.append(x)
    return lax.cos_p.bind(x, **params)

assert float(lax.sin_p.bind(0.0, accuracy=None)) == 1.0 and seen == [0.0]
"""


def test_public_primitives_take_another_implementation(python) -> None:
    under_the_hook(python, IMPL)
