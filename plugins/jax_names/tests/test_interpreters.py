"""Interpreters over programs as libraries write them for JAX, over all of control flow."""

from __future__ import annotations

HEAD = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.extend import core, linear_util as lu
from functools import partial

near = lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)
P = core.primitives
split = lambda xs, *ns: (
    [list(xs[sum(ns[:i]) : sum(ns[: i + 1])]) for i in range(len(ns))] + [list(xs[sum(ns) :])]
)
"""

PROGRAM = """
@jax.custom_jvp
def sq(x):
    return x * x


sq.defjvp(lambda p, t: (sq(p[0]), 2 * p[0] * t[0]))


@jax.custom_vjp
def cube(x):
    return x * x * x


cube.defvjp(lambda x: (cube(x), x), lambda x, ct: (3 * x * x * ct,))


def prog(x, y):
    k = jnp.cos(y)
    x = jax.jit(lambda a: jnp.sin(a) * y)(x)
    x = lax.cond(x.sum() > 0, lambda a: a * k, lambda a: a + k, x)
    x, ys = lax.scan(lambda c, z: (jnp.sin(c) * z + k, c * z), x, jnp.arange(3.0), reverse=True)
    n, x = lax.while_loop(
        lambda c: (c[0] < 3) & (c[1].sum() < 100 + y.sum()),
        lambda c: (c[0] + 1, c[1] * 1.1 + jnp.sin(k)),
        (0, x),
    )
    x = lax.fori_loop(0, 2, lambda i, a: a * jnp.sin(a) + i, x)
    x = jax.checkpoint(lambda a: jnp.sin(a) + ys[0])(x)
    return cube(sq(x)).sum() + ys.sum()


args = jnp.array([0.3, 0.4]), jnp.array([0.5, 0.1])
closed = jax.make_jaxpr(prog)(*args)
tang = jnp.array([1.0, -1.0]), jnp.array([0.2, 2.0])
"""

INTERPRETERS = """
def interpret(closed, args, rule, lift, lower):
    jaxpr, consts = closed.jaxpr, closed.consts
    env = {}

    def read(v):
        return lift(v.val) if isinstance(v, core.Literal) else env[v]

    env.update(zip(jaxpr.constvars, map(lift, consts)))
    env.update(zip(jaxpr.invars, args))
    for e in jaxpr.eqns:
        ins = [read(v) for v in e.invars]
        p = e.params
        prim = e.primitive
        again = lambda c, *xs: interpret(c, xs, rule, lift, lower)
        if prim is P.jit_p:
            flat, tree = jax.tree.flatten(ins)
            out_tree = []

            def inner(*xs):
                o, t = jax.tree.flatten(again(p["jaxpr"], *jax.tree.unflatten(tree, xs)))
                out_tree[:] = [t]
                return o

            new = jax.make_jaxpr(inner)(*flat)
            outs = prim.bind(
                *flat,
                **{
                    **p,
                    "jaxpr": new,
                    "donated_invars": (False,) * len(flat),
                    **(
                        {
                            "in_shardings": p["in_shardings"][:1] * len(flat),
                            "out_shardings": p["out_shardings"][:1] * len(new.jaxpr.outvars),
                            "in_layouts": (None,) * len(flat),
                            "out_layouts": (None,) * len(new.jaxpr.outvars),
                        }
                        if "in_shardings" in p
                        else {}
                    ),
                },
            )
            outs = jax.tree.unflatten(out_tree[0], outs)
        elif prim is P.remat_p:
            j = p["jaxpr"]
            j = core.ClosedJaxpr(j, ()) if not isinstance(j, core.ClosedJaxpr) else j
            outs = jax.checkpoint(
                lambda *xs: again(j, *xs), prevent_cse=p["prevent_cse"], policy=p["policy"]
            )(*ins)
        elif prim is P.cond_p:
            outs = lax.switch(lower(ins[0]), [partial(again, b) for b in p["branches"]], *ins[1:])
        elif prim is P.while_p:
            cc, bc, carry = split(ins, p["cond_nconsts"], p["body_nconsts"])
            flat, tree = jax.tree.flatten(carry)
            step = lambda c: again(p["body_jaxpr"], *bc, *c)
            carry = jax.eval_shape(step, carry) and [jax.tree.map(jnp.asarray, c) for c in carry]
            outs = lax.while_loop(lambda c: lower(again(p["cond_jaxpr"], *cc, *c)[0]), step, carry)
        elif prim is P.scan_p:
            cs, carry, xs = split(ins, p["num_consts"], p["num_carry"])

            def f(c, x):
                o = again(p["jaxpr"], *cs, *c, *x)
                return o[: p["num_carry"]], o[p["num_carry"] :]

            c, ys = lax.scan(
                f, carry, xs, length=p["length"], reverse=p["reverse"], unroll=p["unroll"]
            )
            outs = [*c, *ys]
        elif prim in (P.custom_jvp_call_p, P.custom_vjp_call_p):
            outs = again(p["call_jaxpr"], *ins)
        else:
            outs = rule(e, ins)
        env.update(zip(e.outvars, outs))
    return [read(v) for v in jaxpr.outvars]

# plain evaluation
def plain(e, ins):
    o = e.primitive.bind(*ins, **e.params)
    return o if e.primitive.multiple_results else [o]


ident = lambda x: x
for run in (
    (lambda *a: interpret(closed, a, plain, ident, ident)),
    jax.jit(lambda *a: interpret(closed, a, plain, ident, ident)),
):
    near(run(*args)[0], prog(*args))


# jvp interpreter: pairs, by jax.jvp of each primitive
def dual(e, ins):
    f = lambda *xs: e.primitive.bind(*xs, **e.params)
    ps, ts = [a for a, _ in ins], [b for _, b in ins]
    o, t = jax.jvp(f, ps, ts)
    return list(zip(o, t)) if e.primitive.multiple_results else [(o, t)]


def zero(x):
    return (
        np.zeros(np.shape(x), jax.dtypes.float0)
        if not jnp.issubdtype(jnp.result_type(x), jnp.floating)
        else jnp.zeros_like(x)
    )


# only with tangents of float type in carries: integers keep float0 out by a dummy
def dual2(e, ins):
    f = lambda *xs: e.primitive.bind(*xs, **e.params)
    ps = [a for a, _ in ins]
    ts = [
        b
        if jnp.issubdtype(jnp.result_type(a), jnp.floating)
        else np.zeros(np.shape(a), jax.dtypes.float0)
        for a, b in ins
    ]
    o, t = jax.jvp(f, ps, ts)
    pairs = list(zip(o, t)) if e.primitive.multiple_results else [(o, t)]
    return [
        (a, b if jnp.issubdtype(jnp.result_type(a), jnp.floating) else jnp.zeros(()))
        for a, b in pairs
    ]


lift = lambda x: (
    x,
    jnp.zeros_like(x) if jnp.issubdtype(jnp.result_type(x), jnp.floating) else jnp.zeros(()),
)
run = lambda p, t: interpret(closed, list(zip(p, t)), dual2, lift, lambda x: x[0])
want = jax.jvp(lambda *a: interpret(closed, a, plain, ident, ident)[0], args, tang)
for r in run, jax.jit(run):
    (got,) = r(args, tang)
    near(got[0], want[0])
    near(got[1], want[1])


# forward laplacian: value, jacobian rows, laplacian
def lap(e, ins):
    f = lambda *xs: e.primitive.bind(*xs, **e.params)
    ps = [a for a, _, _ in ins]
    isf = [jnp.issubdtype(jnp.result_type(a), jnp.floating) for a in ps]
    if not any(isf):
        o = f(*ps)
        o = o if e.primitive.multiple_results else [o]
        return [lift3(a) for a in o]

    def g(*fs):
        it = iter(fs)
        return f(*[next(it) if i else p for i, p in zip(isf, ps)])

    fp = [p for i, p in zip(isf, ps) if i]
    js = [j for i, (_, j, _) in zip(isf, ins) if i]
    ls = [l for i, (_, _, l) in zip(isf, ins) if i]
    o = g(*fp)
    first = lambda *t: jax.jvp(g, fp, list(t))[1]
    jac = jax.vmap(first, -1, -1)(*js)
    second = jax.vmap(
        lambda *t: jax.jvp(lambda *q: jax.jvp(g, list(q), list(t))[1], fp, list(t))[1], -1, -1
    )(*js)
    try:
        l = jax.tree.map(
            lambda a, b: a.sum(-1) + b if a.dtype != jax.dtypes.float0 else a, second, first(*ls)
        )
    except Exception:
        raise
    outs = (o, jac, l)
    outs = list(zip(*outs)) if e.primitive.multiple_results else [outs]
    return [t if jnp.issubdtype(jnp.result_type(t[0]), jnp.floating) else lift3(t[0]) for t in outs]


N = 2


def lift3(x):
    x = jnp.asarray(x)
    return (
        (x, jnp.zeros((*x.shape, N), x.dtype), jnp.zeros_like(x))
        if jnp.issubdtype(x.dtype, jnp.floating)
        else (x, jnp.zeros(x.shape), jnp.zeros(x.shape))
    )


x, y = args
first = (x, jnp.eye(2), jnp.zeros(2))


def laplacian(x):
    return interpret(closed, [(x, jnp.eye(2), jnp.zeros(2)), lift3(y)], lap, lift3, lambda x: x[0])[
        0
    ]


h = (
    jax.hessian(prog)(x, y)
    if False
    else jax.jacfwd(jax.jacfwd(lambda x: interpret(closed, (x, y), plain, ident, ident)[0]))(x)
)
for r in laplacian, jax.jit(laplacian):
    v, j, l = r(x)
    near(v, prog(x, y))
    near(j, jax.jacfwd(lambda x: interpret(closed, (x, y), plain, ident, ident)[0])(x))
    near(l, jnp.trace(h))
"""

HARVEST = """
# harvest through control flow: sow in loops, collected as stacked
sow_p = core.Primitive("sow")
sow_p.def_impl(lambda x, *, name: x)
sow_p.def_abstract_eval(lambda x, *, name: x)
from jax.interpreters import ad, batching, mlir

ad.deflinear(sow_p, lambda ct, name: [ct])
batching.primitive_batchers[sow_p] = lambda a, d, **p: (sow_p.bind(*a, **p), d[0])
mlir.register_lowering(sow_p, lambda ctx, x, **p: [x])


def reap(f):
    def go(closed, *ins):
        jaxpr = closed.jaxpr
        env = dict(zip(jaxpr.constvars, closed.consts)) | dict(zip(jaxpr.invars, ins))
        found = {}
        read = lambda v: v.val if isinstance(v, core.Literal) else env[v]
        for e in jaxpr.eqns:
            xs = [read(v) for v in e.invars]
            p = e.params
            if e.primitive is sow_p:
                found[p["name"]] = xs[0]
                outs = xs
            elif e.primitive is P.jit_p:
                outs, more = jax.jit(lambda *a: go(p["jaxpr"], *a))(*xs)
                found |= more
            elif e.primitive is P.scan_p:
                cs, cr, ss = split(xs, p["num_consts"], p["num_carry"])

                def body(c, s):
                    o, more = go(p["jaxpr"], *cs, *c, *s)
                    return o[: p["num_carry"]], (o[p["num_carry"] :], more)

                c, (ys, more) = lax.scan(body, cr, ss, length=p["length"], reverse=p["reverse"])
                outs = [*c, *ys]
                found |= more
            elif e.primitive is P.while_p:
                cc, bc, cr = split(xs, p["cond_nconsts"], p["body_nconsts"])
                bj = p["body_jaxpr"]

                def step(c):
                    o, more = go(bj, *bc, *c[0])
                    return o, more

                init = jax.tree.map(
                    lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(step, (cr, None))[1]
                )
                cr = [jnp.asarray(c) for c in cr]
                outs, more = lax.while_loop(
                    lambda c: core.jaxpr_as_fun(p["cond_jaxpr"])(*cc, *c[0])[0], step, (cr, init)
                )
                found |= more
            elif e.primitive is P.cond_p:
                outs, more = lax.switch(xs[0], [partial(go, b) for b in p["branches"]], *xs[1:])
                found |= more
            elif e.primitive is P.remat_p:
                j = p["jaxpr"]
                j = core.ClosedJaxpr(j, ()) if not isinstance(j, core.ClosedJaxpr) else j
                outs, more = go(j, *xs)
                found |= more
            elif e.primitive in (P.custom_jvp_call_p, P.custom_vjp_call_p):
                outs, more = go(p["call_jaxpr"], *xs)
                found |= more
            else:
                sub, params = [], e.primitive.get_bind_params(p)
                outs = e.primitive.bind(*xs, **params)
                outs = outs if e.primitive.multiple_results else [outs]
            env.update(zip(e.outvars, outs))
        return [read(v) for v in jaxpr.outvars], found

    return lambda *a: go(jax.make_jaxpr(f)(*a), *a)[1]


sow = lambda x, n: sow_p.bind(x, name=n)


@jax.custom_jvp
def cj(x):
    return sow(x * 2, "cj")


cj.defjvp(lambda p, t: (cj(p[0]), 2 * t[0]))


def H(x):
    y = jax.jit(lambda x: sow(jnp.sin(x), "a") + 1)(x)
    _, z = lax.scan(lambda c, s: (sow(c * s, "b"), c), y, jnp.arange(1.0, 4.0))
    w = lax.while_loop(lambda c: c < 10 * x, lambda c: sow(c * (1 + x), "c"), y)
    v = lax.cond(w > 3, lambda w: sow(w + x, "d"), lambda w: sow(w, "d"), w)
    return cj(jax.checkpoint(lambda v: sow(v * v, "e"))(v))


for r in reap(H), jax.jit(reap(H)):
    f = r(1.0)
    near(f["a"], np.sin(1))
    near(f["b"], np.cumprod([1, 2, 3.0]) * (1 + np.sin(1)))
    near(f["c"], (1 + np.sin(1)) * 8)
    near(f["d"], f["c"] + 1)
    near(f["e"], f["d"] ** 2)
    near(f["cj"], f["e"] * 2)
"""

INVERSE = """
# inverse through jit, scan, custom_jvp
inv = {lax.exp_p: jnp.log, lax.tanh_p: jnp.arctanh, lax.neg_p: jnp.negative}


def invert(closed, *outs):
    jaxpr = closed.jaxpr
    env = dict(zip(jaxpr.outvars, outs)) | dict(zip(jaxpr.constvars, closed.consts))
    for e in jaxpr.eqns[::-1]:
        o = [env[v] for v in e.outvars]
        p = e.params
        if e.primitive is P.jit_p:
            i = jax.jit(lambda *o: invert(p["jaxpr"], *o))(*o)
        elif e.primitive in (P.custom_jvp_call_p, P.custom_vjp_call_p):
            i = invert(p["call_jaxpr"], *o)
        elif e.primitive is P.remat_p:
            j = p["jaxpr"]
            j = core.ClosedJaxpr(j, ()) if not isinstance(j, core.ClosedJaxpr) else j
            i = invert(j, *o)
        elif e.primitive is P.scan_p:
            assert p["num_consts"] == 0
            c, _ = lax.scan(
                lambda c, _: (invert(p["jaxpr"], *c), None), o, None, length=p["length"]
            )
            i = c
        else:
            i = [inv[e.primitive](*o)]
        env.update((v, x) for v, x in zip(e.invars, i) if not isinstance(v, core.Literal))
    return [env[v] for v in jaxpr.invars]


@jax.custom_vjp
def cv(x):
    return -x


cv.defvjp(lambda x: (-x, None), lambda _, ct: (-ct,))


def I(x):
    x = lax.scan(lambda c, _: (jnp.tanh(c), None), x, None, length=2)[0]
    return jax.checkpoint(jnp.exp)(jax.jit(jnp.tanh)(cv(x)))


c = jax.make_jaxpr(I)(0.3)
near(invert(c, I(0.3))[0], 0.3)
"""

BINDING = """
# binding through params, in all forms
def rebinding(f):
    def go(closed, *ins):
        jaxpr = closed.jaxpr
        env = dict(zip(jaxpr.constvars, closed.consts)) | dict(zip(jaxpr.invars, ins))
        read = lambda v: v.val if isinstance(v, core.Literal) else env[v]
        for e in jaxpr.eqns:
            sub = e.primitive.get_bind_params(e.params)
            o = e.primitive.bind(*map(read, e.invars), **sub)
            env.update(zip(e.outvars, o if e.primitive.multiple_results else [o]))
        return [read(v) for v in jaxpr.outvars]

    return lambda *a: go(jax.make_jaxpr(f)(*a), *a)[0]


r = rebinding(prog)
near(r(*args), prog(*args))
near(
    jax.grad(lambda x: rebinding(lambda x: cube(sq(jnp.sin(x))))(x))(0.5),
    jax.grad(lambda x: cube(sq(jnp.sin(x))))(0.5),
)
near(jax.jit(rebinding(r))(*args), prog(*args))
near(jax.vmap(r)(*[jnp.stack([a, a]) for a in args])[1], prog(*args))


def loop(c, y):
    return lax.while_loop(lambda c: c < y, lambda c: c * y, c)


e = jax.make_jaxpr(loop)(1.5, 9.0).eqns[-1]
p = e.params
assert (p["cond_nconsts"], p["body_nconsts"], len(e.invars)) == (1, 1, 3)
near(
    P.while_p.bind(
        9.0,
        2.0,
        1.5,
        cond_jaxpr=p["cond_jaxpr"],
        cond_nconsts=1,
        body_jaxpr=p["body_jaxpr"],
        body_nconsts=1,
    )[0],
    12,
)
"""


def under_the_hook(python, *code: str) -> None:
    done = python("-W", "error", "-c", "\n".join(("import dovetail.jax", *code)))
    assert done.returncode == 0, done.stderr


def test_values_tangents_and_laplacians(python) -> None:
    under_the_hook(python, HEAD, PROGRAM, INTERPRETERS)


def test_harvest_and_inverse(python) -> None:
    under_the_hook(python, HEAD, HARVEST, INVERSE)


def test_equations_are_bound_again(python) -> None:
    under_the_hook(python, HEAD, PROGRAM, BINDING)
