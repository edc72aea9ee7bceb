"""Transformations with references that are there before and after: rules that close over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp

from .helpers import stashed
from .laws import agree, inexact, places, scalar
from .transformations import Transformation, cond, grad


def scaled_by_reference(ref, calls, how):
    """A function that multiplies by what ``ref`` holds, and counts its calls in ``calls``."""

    def factor(x):
        calls[...] += 1
        return ref[...].astype(x.dtype)

    if how == "custom_jvp":
        f = dovetail.custom_jvp(lambda x: x * factor(x))
        f.defjvp(lambda xs, ts: (xs[0] * factor(xs[0]), ts[0] * factor(xs[0])))
        return f
    if how == "custom_vjp":
        f = dovetail.custom_vjp(lambda x: x * factor(x))
        f.defvjp(lambda x: (x * factor(x), None), lambda _, ct: (ct * factor(ct),))
        return f
    f = dovetail.custom_vjp(lambda x, ref: x * factor(x))
    f.defvjp(
        lambda x, ref: (x * ref[...].astype(x.dtype), ref),
        lambda ref, ct: (ct * ref[...].astype(ct.dtype), None),
    )
    return lambda x: f(x, ref)


@dataclass
class references(Transformation):
    """The function times what a reference holds, over which body and rules close, or a rule that
    is given it."""

    how: str
    around: str

    def apply(self, f):
        scale = scaled_by_reference(dovetail.new_ref(2.0), dovetail.new_ref(0), self.how)

        def scaled(*xs):
            ys = map(dnp.asarray, f(*xs))
            return tuple([scale(y) if inexact(y) else y for y in ys])

        wrap = {"jit": dovetail.jit, "checkpoint": dovetail.checkpoint, "scan": in_scan}
        return wrap.get(self.around, lambda f: f)(scaled)

    def check(self, evaluate, known, f, g, args):
        want = [np.asarray(y) for y in known(f)(*args)]
        scaled = [(y * 2).astype(y.dtype) if inexact(y) else y for y in want]
        agree(evaluate(g)(*args), scaled, "times what a reference holds")


def in_scan(f):
    """The function as the one step of a loop."""

    def g(*xs):
        result = lax.scan(lambda c, _: (c, f(*xs)), None, None, length=1)[1]
        return tuple([y[0] for y in result])

    return g


@dataclass
class stashes(grad):
    """A gradient, and the same as backward rules write it to references, from two uses."""

    around: str
    outside: bool
    """Whether the rules close over references that are there before and after."""

    def apply(self, f):
        kept = {}

        def refs_for(key, x):
            if not self.outside:
                return dovetail.new_ref(dnp.zeros((2, *x.shape), x.dtype))
            with dovetail.ensure_compile_time_eval():
                if key not in kept:
                    kept[key] = dovetail.new_ref(np.zeros((2, *x.shape), x.dtype))
            return kept[key]

        def g(*xs):
            at = places(xs)
            h = scalar(f, xs)
            refs = [refs_for(i, xs[i]) for i in at]

            def whole(*moving):
                return (uses_outside if self.outside else uses)(h, self.around, moving, refs)

            result = dovetail.grad(whole, tuple(range(len(at))))(*[xs[i] for i in at])
            return (*result, *[ref[...].sum(0) for ref in refs])

        return g

    def check(self, evaluate, known, f, g, args):
        result = evaluate(g)(*args)
        n = len(result) // 2
        agree(result[n:], result[:n], "stashed cotangents against the gradient", 10)
        super().check(lambda g: lambda *_: result[:n], known, f, g, args)


def uses(h, around, moving, refs):
    """Half of ``h`` twice, where rules get rows of references as arguments."""

    def half(moving, rows):
        return 0.5 * h(*[stash(x, row) for x, row in zip(moving, rows)])

    if around == "scan":
        step = lambda c, rows: (c + half(moving, rows), None)  # noqa: E731
        return lax.scan(step, 0.0, refs)[0]
    if around == "vmap":
        return dovetail.vmap(half, (None, 0))(moving, refs).sum()
    wrap = {"jit": dovetail.jit, "checkpoint": dovetail.checkpoint}
    one = wrap.get(around, lambda f: f)(half)
    return sum([one(moving, [ref.at[i] for ref in refs]) for i in range(2)])


def uses_outside(h, around, moving, refs):
    """The same where rules close over the references."""

    def half(i):
        def f(*moving):
            return (0.5 * h(*[stash_outside(x, ref.at[i]) for x, ref in zip(moving, refs)]),)

        wrap = {"jit": dovetail.jit, "checkpoint": dovetail.checkpoint, "scan": in_scan}
        return wrap.get(around, lambda f: f)(f)(*moving)[0]

    return half(0) + half(1)


def stash(x, ref):
    """``x``; its cotangent is written to a reference."""
    f = dovetail.custom_vjp(lambda x, ref: x)
    f.defvjp(lambda x, ref: (x, ref), stashed)
    return f(x, ref)


def stash_outside(x, ref):
    """The same by rules that close over the reference."""
    f = dovetail.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: stashed(ref, ct)[:1])
    return f(x)


def is_outside(stack):
    """Whether references are written that no derivative or map of the whole may lift."""
    return any(type(t) is stashes and t.outside for t in stack)


def gives_references(stack, kinds):
    """Whether functions with rules are given references, or close over some."""
    steps = {"ref in rule", "stash", "unmapped rule"}
    return any(type(t) in ALL for t in stack) or not kinds.isdisjoint(steps)


def may_be_mapped(stack, kinds):
    """Whether no such function is where a predicate may be false, or gets slices of references."""
    if "unmapped rule" in kinds or any(type(t) is stashes and t.around == "scan" for t in stack):
        return False
    conditions = [t for t in stack if type(t) is cond or getattr(t, "how", "") == "cond"]
    return not (conditions and gives_references(stack, kinds))


ALL = {references: 2, stashes: 2}
