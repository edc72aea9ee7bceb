"""Transformations of flat functions of arrays, each with its law.

``apply`` gives the transformed function, ``arguments`` makes its arguments from arguments of the
function, and ``check`` compares it (evaluated by ``evaluate``) with what the function itself says
(evaluated by ``known``). The source of those that a failure needs is copied into its script.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp
from dovetail_core import dce_closed, jaxpr_as_fun, parse_ir, print_ir, printed_constants

from .helpers import each_numpy
from .laws import (
    Unclear,
    Wrong,
    agree,
    agree_with_slope,
    direction,
    dot,
    double,
    inexact,
    moved,
    near,
    places,
    scalar,
    smooth,
    tolerance,
    weights,
    wide,
)


class Transformation:
    """One that changes nothing, and takes the same arguments."""

    def apply(self, f):
        raise NotImplementedError

    def arguments(self, draw):
        return draw()

    def check(self, evaluate, known, f, g, args):
        agree(evaluate(g)(*args), known(f)(*args), type(self).__name__)


@dataclass
class jit(Transformation):
    def apply(self, f):
        return dovetail.jit(f)


@dataclass
class remat(Transformation):
    policy: str | None = None

    def apply(self, f):
        if self.policy == "budget":
            return dovetail.checkpoint(f, policy=dovetail.Budget(50))
        policy = self.policy and getattr(dovetail.checkpoint_policies, self.policy)
        return dovetail.checkpoint(f, policy=policy)


@dataclass
class closure(Transformation):
    """The function as a function of nothing, which closes over its arguments."""

    how: str

    def apply(self, f):
        def g(*xs):
            if self.how == "jit":
                return dovetail.jit(lambda: f(*xs))()
            if self.how == "checkpoint":
                return dovetail.checkpoint(lambda: f(*xs))()
            if self.how == "cond":
                return lax.cond(xs[0].sum() == xs[0].sum(), lambda: f(*xs), lambda: f(*xs))
            result = lax.scan(lambda c, _: (c, f(*xs)), None, None, length=1)[1]
            return tuple([y[0] for y in result])

        return g


@dataclass
class text(Transformation):
    """The program of the function, printed and parsed."""

    def apply(self, f):
        def g(*xs):
            program = dovetail.make_jaxpr(f)(*xs)
            printed = print_ir(program)
            if "=<" in printed:  # a parameter that has no text
                return tuple(jaxpr_as_fun(program)(*xs))
            again = parse_ir(printed, printed_constants(program))
            if again != program or print_ir(again) != printed:
                raise Wrong(f"parsed differently:\n{printed}\n{print_ir(again)}")
            return tuple(jaxpr_as_fun(again)(*xs))

        return g


@dataclass
class dce(Transformation):
    """The program of the function, less what only some results need."""

    kept: int

    def apply(self, f):
        def g(*xs):
            program = dovetail.make_jaxpr(f)(*xs)
            used = [i == self.kept for i in range(len(program.out_avals))]
            reduced, left = dce_closed(program, used)
            return tuple(jaxpr_as_fun(reduced)(*[x for x, keep in zip(xs, left) if keep]))

        return g

    def check(self, evaluate, known, f, g, args):
        agree(evaluate(g)(*args), known(f)(*args)[self.kept : self.kept + 1], "dce")


@dataclass
class vmap(Transformation):
    axes: tuple
    out: int = 0

    def apply(self, f):
        return dovetail.vmap(f, self.axes, self.out)

    def arguments(self, draw):
        pairs = zip(draw(), draw(), self.axes)
        return tuple([x if ax is None else np.stack([x, y], ax) for x, y, ax in pairs])

    def check(self, evaluate, known, f, g, args):
        want = each_numpy(known(f), self.axes, args)
        agree(evaluate(g)(*args), [np.moveaxis(y, 0, self.out) for y in want], "vmap")


@dataclass
class scan(Transformation):
    """The function in a loop over slices."""

    reverse: bool = False
    unroll: int = 1

    def apply(self, f):
        def g(*xs):
            step = lambda c, x: (c, f(*x))  # noqa: E731
            options = {"length": 2, "reverse": self.reverse, "unroll": self.unroll}
            return lax.scan(step, None, xs, **options)[1]

        return g

    def arguments(self, draw):
        return tuple([np.stack([x, y]) for x, y in zip(draw(), draw())])

    def check(self, evaluate, known, f, g, args):
        want = each_numpy(known(f), [0] * len(args), args)
        agree(evaluate(g)(*args), want, "scan")


@dataclass
class cond(Transformation):
    """The function where a number is positive, else zeros."""

    def apply(self, f):
        def zeros(*xs):
            return tuple([dnp.zeros_like(y) for y in f(*xs)])

        return lambda flag, *xs: lax.cond(flag > 0, f, zeros, *xs)

    def arguments(self, draw):
        xs = draw()
        flag = 1 if np.sum(np.sin(np.arange(len(xs)) + xs[0].sum().real)) > 0 else -1
        return (np.asarray(flag, np.int32), *xs)

    def check(self, evaluate, known, f, g, args):
        want = known(f)(*args[1:])
        if args[0] <= 0:
            want = [np.zeros_like(y) for y in want]
        agree(evaluate(g)(*args), want, "cond")


@dataclass
class jvp(Transformation):
    """Results and their tangents; the tangents of arguments come after the arguments."""

    n: int
    """How many arguments the function has."""

    def apply(self, f):
        def g(*a):
            xs, ts = a[: self.n], a[self.n :]
            ys, dys = dovetail.jvp(smooth(f, xs), tuple([xs[i] for i in places(xs)]), tuple(ts))
            return (*ys, *dys)

        return g

    def arguments(self, draw):
        xs = draw()
        return (*xs, *direction(xs))

    def check(self, evaluate, known, f, g, args):
        xs, ts = args[: self.n], args[self.n :]
        f = known(f)
        ys = [y for y in f(*xs) if inexact(y)]
        result = evaluate(g)(*args)
        agree(result[: len(ys)], ys, "primals of jvp")
        agree([np.zeros_like(t) for t in result[len(ys) :]], [np.zeros_like(y) for y in ys], "jvp")
        if double([*xs, *ys]):
            at = lambda h: [y for y in f(*moved(xs, ts, h)) if inexact(y)]  # noqa: E731
            agree_with_slope(result[len(ys) :], at, "tangents")


@dataclass
class jvp_of_all(jvp):
    """The same with tangents for all arguments, of type float0 where there is no derivative."""

    def apply(self, f):
        def g(*a):
            xs, ts = a[: self.n], iter(a[self.n :])
            all_ts = [next(ts) if inexact(x) else np.zeros(x.shape, dovetail.float0) for x in xs]
            ys, dys = dovetail.jvp(f, tuple(xs), tuple(all_ts))
            for y, t in zip(ys, dys):
                if not inexact(y) and t.dtype != dovetail.float0:
                    raise Wrong(f"a tangent of type {t.dtype} for a result of type {y.dtype}")
            pairs = [(y, t) for y, t in zip(ys, dys) if inexact(y)]
            return (*[y for y, _ in pairs], *[t for _, t in pairs])

        return g


@dataclass
class linearize(jvp):
    """The same by the linear program; ``twice`` transposed twice."""

    twice: bool = False

    def apply(self, f):
        def g(*a):
            xs, ts = a[: self.n], a[self.n :]
            ys, push = dovetail.linearize(smooth(f, xs), *[xs[i] for i in places(xs)])
            if not self.twice:
                return (*ys, *push(*ts))
            pull = dovetail.linear_transpose(push, *ts)
            again = dovetail.linear_transpose(pull, tuple(ys))
            return (*ys, *again(tuple(ts))[0])

        return g

    def check(self, evaluate, known, f, g, args):
        want = known(jvp(self.n).apply(f))(*args)
        agree(evaluate(g)(*args), want, "linearize against jvp")


@dataclass
class vjp(Transformation):
    """Results, and cotangents of the arguments for fixed cotangents of the results."""

    def apply(self, f):
        def g(*xs):
            ys, pull = dovetail.vjp(smooth(f, xs), *[xs[i] for i in places(xs)])
            return (*ys, *pull(weights(ys)))

        return g

    def check(self, evaluate, known, f, g, args):
        ys = [y for y in known(f)(*args) if inexact(y)]
        result = evaluate(g)(*args)
        agree(result[: len(ys)], ys, "primals of vjp")
        ts = direction(args)
        agree([np.zeros_like(c) for c in result[len(ys) :]], [np.zeros_like(t) for t in ts], "vjp")
        pushed = known(jvp(len(args)).apply(f))(*args, *ts)[len(ys) :]
        left, right = dot(result[len(ys) :], ts), dot(pushed, map(np.asarray, weights(ys)))
        size = sum(np.abs(wide(c)).sum() for c in [*result[len(ys) :], *pushed])
        tol = max([tolerance(y.dtype) for y in [*ys, *ts]], default=0)
        if not np.isfinite(size) or size > 1e8:
            raise Unclear("out of range")
        if not abs(left - right) <= tol * (1 + size):
            raise Wrong(f"vjp: <cotangents, t> = {left}, <weights, jvp(t)> = {right}")


@dataclass
class grad(Transformation):
    """The gradient of a weighted sum of the results."""

    def apply(self, f):
        def g(*xs):
            at = places(xs)
            h = dovetail.grad(scalar(f, xs), tuple(range(len(at))))
            return h(*[xs[i] for i in at])

        return g

    def check(self, evaluate, known, f, g, args):
        result, ts = evaluate(g)(*args), direction(args)
        agree([np.zeros_like(c) for c in result], [np.zeros_like(t) for t in ts], "grad")
        f = known(f)
        ys = [y for y in f(*args) if inexact(y)]
        if double([*args, *ys]):
            ws = list(map(np.asarray, weights(ys)))

            def at(h):
                return [np.asarray(dot(ws, [y for y in f(*moved(args, ts, h)) if inexact(y)]))]

            agree_with_slope([np.asarray(dot(result, ts))], at, "gradient along a direction")


@dataclass
class value_and_grad(grad):
    """The gradient beside the value, with auxiliary results."""

    def apply(self, f):
        def g(*xs):
            at = places(xs)
            h = scalar(f, xs)
            with_aux = lambda *a: (h(*a), a)  # noqa: E731
            both = dovetail.value_and_grad(with_aux, tuple(range(len(at))), has_aux=True)
            point = [xs[i] for i in at]
            (_, same), result = both(*point)
            if len(same) != len(point):
                raise Wrong("auxiliary results are not those that were returned")
            return result

        return g


@dataclass
class second(Transformation):
    """Second derivatives along a direction: forward over reverse, reverse over reverse, reverse
    over forward."""

    def apply(self, f):
        def g(*xs):
            at = places(xs)
            h, point = scalar(f, xs), [xs[i] for i in at]
            ts = [dnp.asarray(t) for t in direction(xs)]
            slopes = dovetail.grad(h, tuple(range(len(at))))
            forward = dovetail.jvp(slopes, tuple(point), tuple(ts))[1]

            def along(*moving):
                return sum([dnp.real((d * t).sum()) for d, t in zip(slopes(*moving), ts)])

            def pushed(*moving):
                return dovetail.jvp(h, moving, tuple(ts))[1]

            every = tuple(range(len(at)))
            reverse = dovetail.grad(along, every)(*point)
            return (*forward, *reverse, *dovetail.grad(pushed, every)(*point))

        return g

    def check(self, evaluate, known, f, g, args):
        result, ts = evaluate(g)(*args), direction(args)
        n = len(ts)
        agree(result[n : 2 * n], result[:n], "reverse over reverse", 100)
        agree(result[2 * n :], result[:n], "reverse over forward", 100)
        slopes = known(grad().apply(f))
        if double(args):
            agree_with_slope(result[:n], lambda h: slopes(*moved(args, ts, h)), "hessian")


@dataclass
class jacobians(Transformation):
    """The Jacobian by forward and by reverse mode."""

    def apply(self, f):
        def g(*xs):
            at = places(xs)
            point = [xs[i] for i in at]

            def first(x):
                ys = smooth(f, xs)(x, *point[1:])
                return dnp.concatenate([dnp.real(y).ravel() for y in ys])

            return (dovetail.jacfwd(first)(point[0]), dovetail.jacrev(first)(point[0]))

        return g

    def check(self, evaluate, known, f, g, args):
        forward, reverse = evaluate(g)(*args)
        ys = [y for y in known(f)(*args) if inexact(y)]  # the Jacobians' types are wider
        tol = max(tolerance(y.dtype) for y in [forward, reverse, *ys])
        if np.shape(forward) != np.shape(reverse) or not near(reverse, forward, tol):
            raise Wrong(f"jacrev against jacfwd:\n{reverse}\n{forward}")
        f, ts = known(f), direction(args)
        ts = [ts[0], *[np.zeros_like(t) for t in ts[1:]]]
        if double(args):
            n = ts[0].ndim
            pushed = np.tensordot(forward, ts[0], n) if n else forward * ts[0]

            def at(h):
                ys = [y for y in f(*moved(args, ts, h)) if inexact(y)]
                return [np.concatenate([y.real.ravel() for y in ys])]

            agree_with_slope([pushed], at, "jacobian")


REVERSE = (vjp, grad, linearize, second, jacobians)
DERIVATIVES = (jvp, *REVERSE)
MAPS = (vmap,)
ALL = {
    jit: 3, closure: 3, remat: 2, text: 2, dce: 2, vmap: 6, scan: 2, cond: 2, jvp: 3, jvp_of_all: 1,
    linearize: 3, vjp: 4, grad: 2, value_and_grad: 1, second: 3, jacobians: 1,
}  # fmt: skip

__all__ = ["ALL", "DERIVATIVES", "MAPS", "REVERSE", "Transformation", "near"]
