"""Forty mistakes that authors of rules make, each a small change of a right rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import algebra, typeof
from dovetail_testing import Conformance

from . import backends, subjects as s
from .bounds import Bounds, bounds_law
from .high import polar


@dataclass(frozen=True)
class Fault:
    """A mistake: what is wrong, in which table, of what, and how to try it.

    ``made(False)`` is without the mistake, the same for all mistakes of one subject.
    """

    name: str
    where: str
    subject: str
    made: Callable[[bool], Conformance]


FAULTS: list[Fault] = []


def rule(subject: s.Subject, where: str, name: str) -> Callable[[Any], Any]:
    """Decorator: a wrong rule of a subject."""

    def add(wrong: Any) -> Any:
        def made(faulty: bool) -> Conformance:
            samples = subject.made({where: wrong} if faulty else None)
            return Conformance("", samples=tuple(samples))

        FAULTS.append(Fault(name, where, subject.name, made))
        return wrong

    return add


# --- ad.jvp ---------------------------------------------------------------------------------------


@rule(s.SHIFT, "ad.jvp", "wrong sign")
def _(p: Any, xs: Any, ts: Any, **k: Any) -> Any:
    return p.bind(*xs, **k), lax.neg(p.bind(*ts, **k))


@rule(s.PRODUCT, "ad.jvp", "dropped operand")
def _(p: Any, xs: Any, ts: Any) -> Any:
    (x, y), (dx, dy) = xs, ts
    return p.bind(x, y), p.bind(dx, y) if dx is not None else p.bind(x, dy)


@rule(s.PRODUCT, "ad.jvp", "symbolic zero is no zero")
def _(p: Any, xs: Any, ts: Any) -> Any:
    (x, y), (dx, dy) = xs, [x if t is None else t for x, t in zip(xs, ts)]
    return p.bind(x, y), lax.add(p.bind(dx, y), p.bind(x, dy))


@rule(s.POWER, "ad.jvp", "conjugate missing in a derivative")
def _(p: Any, xs: Any, ts: Any) -> Any:
    return p.bind(*xs), s._twice(lax.real(lax.mul(xs[0], ts[0])))


@rule(s.PRODUCT, "ad.jvp", "weak type lost in a derivative")
def _(p: Any, xs: Any, ts: Any) -> Any:
    out, tangent = s.product_jvp(p, xs, ts)
    aval: Any = typeof(out)
    return algebra().convert(out, aval.strong()), algebra().convert(tangent, aval.strong())


@rule(s.NOTE, "ad.jvp", "effect repeated")
def _(p: Any, xs: Any, ts: Any) -> Any:
    p.bind(*xs)
    return p.bind(*xs), ts[0]


@rule(s.PAIR, "ad.jvp", "tangents of two results exchanged")
def _(p: Any, xs: Any, ts: Any) -> Any:
    outs, tangents = s.pair_jvp(p, xs, ts)
    return outs, tangents[::-1]


# --- ad.transpose ---------------------------------------------------------------------------------


@rule(s.SHIFT, "ad.transpose", "the map itself for its transpose")
def _(p: Any, ct: Any, x: Any, *, by: int, axis: int) -> Any:
    return [p.bind(ct, by=by, axis=axis)]


@rule(s.PRODUCT, "ad.transpose", "wrong operand transposed")
def _(p: Any, ct: Any, x: Any, y: Any) -> Any:
    return s.product_transpose(p, ct, x, y)[::-1]


@rule(s.CONJUGATE, "ad.transpose", "conjugate missing in a transpose")
def _(p: Any, ct: Any, x: Any) -> Any:
    return [ct]


@rule(s.TOTAL, "ad.transpose", "cotangent repeated along another axis")
def _(p: Any, ct: Any, x: Any, *, axis: int) -> Any:
    last = x.aval.ndim - 1
    return [algebra().broadcast(ct, x.aval.shape[axis], last)]


@rule(s.SHIFT, "ad.transpose", "dtype lost in a cotangent")
def _(p: Any, ct: Any, x: Any, *, by: int, axis: int) -> Any:
    wide = lax.convert_element_type(ct, np.float32) if ct.dtype.kind in "fV" else ct
    return [p.bind(wide, by=-by, axis=axis)]


# --- ad.partial_eval ------------------------------------------------------------------------------


@rule(s.SHIFT, "ad.partial_eval", "other parameters recorded")
def _(p: Any, trace: Any, args: Any, params: Any) -> Any:
    return trace.record(p, args, {**params, "by": -params["by"]})


@rule(s.SHIFT, "ad.partial_eval", "an unknown taken for known")
def _(p: Any, trace: Any, args: Any, params: Any) -> Any:
    return lax.full(args[0].shape, 0, args[0].dtype)


# --- batching.batch -------------------------------------------------------------------------------


@rule(s.SHIFT, "batching.batch", "axis not moved by the mapped one")
def _(p: Any, mapped: Any, args: Any, dims: Any, *, by: int, axis: int) -> Any:
    return p.bind(*args, by=by, axis=axis), dims[0]


@rule(s.SHIFT, "batching.batch", "mapped axis taken to be at 0")
def _(p: Any, mapped: Any, args: Any, dims: Any, *, by: int, axis: int) -> Any:
    return p.bind(*args, by=by, axis=axis + 1), 0


@rule(s.WEIGH, "batching.batch", "one operand taken to be mapped")
def _(p: Any, axis: Any, args: Any, dims: Any) -> Any:
    x, w = (algebra().move_axis(a, d or 0, 0) for a, d in zip(args, dims))
    return lax.mul(x, lax.broadcast_in_dim(w, x.shape, (0, 2) if w.ndim == 2 else (2,))), 0


@rule(s.TOTAL, "batching.batch", "result's axis not counted again")
def _(p: Any, mapped: Any, args: Any, dims: Any, *, axis: int) -> Any:
    return p.bind(*args, axis=axis + (dims[0] <= axis)), max(0, dims[0] - 1)


@rule(s.PRODUCT, "batching.batch", "a mapped axis has an element")
def _(p: Any, axis: Any, args: Any, dims: Any) -> Any:
    x, y = s.in_front(args, dims, axis.size)
    rows = [p.bind(lax.index_in_dim(x, i, 0), lax.index_in_dim(y, i, 0)) for i in range(axis.size)]
    return lax.concatenate(rows, 0), 0


# --- dce ------------------------------------------------------------------------------------------


@rule(s.PAIR, "dce", "needed operand dropped")
def _(p: Any, used: Any, eqn: Any) -> Any:
    needs, reduced = s.pair_dce(p, used, eqn)
    return ([True, False] if any(used) else needs), reduced


@rule(s.PAIR, "dce", "another result kept")
def _(p: Any, used: Any, eqn: Any) -> Any:
    if list(used) != [False, True]:
        return s.pair_dce(p, used, eqn)
    first = eqn.invars[0]
    return [True, False], eqn.replace(
        primitive=lax.add_p, invars=[first, first], outvars=eqn.outvars[1:]
    )


@rule(s.NOTE, "dce", "effect removed")
def _(p: Any, used: Any, eqn: Any) -> Any:
    return ([True], eqn) if any(used) else ([False], None)


# --- backends.stablehlo ---------------------------------------------------------------------------


@rule(s.LESS, "backends.stablehlo", "operands swapped")
def _(p: Any, b: Any, x: Any, y: Any) -> Any:
    return s.compare(b, y, x)


@rule(s.LESS, "backends.stablehlo", "unsigned integers compared as signed")
def _(p: Any, b: Any, x: Any, y: Any) -> Any:
    return s.compare(b, x, y, "SIGNED" if x.aval.dtype.kind in "iu" else "")


@rule(s.SHIFT, "backends.stablehlo", "parameter folded to a constant")
def _(p: Any, b: Any, x: Any, *, by: int, axis: int) -> Any:
    return s.pad(b, x, 1, -1, axis)


# --- backends.reference ---------------------------------------------------------------------------


@rule(s.LARGER, "backends.reference", "NaN is lost")
def _(p: Any, x: Any, y: Any) -> Any:
    return np.fmax(x, y)


@rule(s.QUOTIENT, "backends.reference", "integers divided towards minus infinity")
def _(p: Any, x: Any, y: Any) -> Any:
    towards_zero = s.quotient_reference(p, x, y)
    with np.errstate(all="ignore"):
        inexact = (y != 0) & (towards_zero * y != x) & ((x < 0) != (y < 0))
    return (towards_zero - inexact.astype(x.dtype)).astype(x.dtype)


@rule(s.TOTAL, "backends.reference", "wrong shape where there is no element")
def _(p: Any, x: Any, *, axis: int) -> Any:
    return np.sum(x, axis, dtype=x.dtype) if x.size else np.zeros((), x.dtype)


@rule(s.SHIFT, "backends.reference", "operand overwritten")
def _(p: Any, x: Any, *, by: int, axis: int) -> Any:
    out = s.shift_reference(p, x, by=by, axis=axis)
    x[...] = out
    return out


@rule(s.WEIGH, "backends.reference", "wrong broadcast of a square")
def _(p: Any, x: Any, w: Any) -> Any:
    return x * w[:, None] if x.shape[0] == x.shape[1] else x * w


# --- type rules, decompositions, to_lo ------------------------------------------------------------


@rule(s.LESS, "type", "comparison has its operands' dtype")
def _(p: Any, x: Any, y: Any) -> Any:
    return s.agreed(p, x, y)


@rule(s.TOTAL, "type", "type rule keeps the axis of a sum")
def _(p: Any, x: Any, *, axis: int) -> Any:
    s.total_type(p, x, axis=axis)
    return x.update(shape=tuple(1 if i == axis else d for i, d in enumerate(x.shape)))


@rule(s.SQUASH, "decomposition", "dtype lost in a decomposition")
def _(p: Any, x: Any) -> Any:
    return s.squash(p, lax.convert_element_type(x, np.float32))


@rule(s.SQUASH, "decomposition", "decomposition of another function")
def _(p: Any, x: Any) -> Any:
    return lax.div(x, lax.add(lax.full_like(x, 1), x))


def high(name: str, where: str, **changed: Any) -> None:
    """A high type, or the operation that makes one, with a method changed."""

    def made(faulty: bool) -> Conformance:
        return Conformance("", samples=tuple(polar(**changed) if faulty else polar()))

    FAULTS.append(Fault(name, where, "polar", made))


def _raises_backwards(self: Any, *arrays: Any) -> Any:
    return super(type(self), self).raise_val(*arrays[::-1])


def _lowers_another(self: Any, amplitude: Any, phase: Any) -> Any:
    return super(type(self), self).to_lo(amplitude, lax.mul(phase, phase))


high("to_lo computes something else", "to_lo", of_make={"to_lo": _lowers_another})
high("arrays of a high value exchanged", "types", of_type={"raise_val": _raises_backwards})


# --- a carrier, a backend -------------------------------------------------------------------------


def carrier(name: str, **changed: Any) -> None:
    """A carrier of a forward transformation with a method changed."""
    wrong = type("WrongBounds", (Bounds,), changed)

    def made(faulty: bool) -> Conformance:
        law = bounds_law(wrong() if faulty else Bounds())
        return Conformance("", laws=((BOUNDS, law),))

    FAULTS.append(Fault(name, BOUNDS, "bounds", made))


BOUNDS = "conformance.bounds"


def _promotes_with_zero(self: Any, value: Any, structure: bool, depth: int) -> Any:
    if structure and value[0] is value[1]:
        return value[0], lax.full_like(value[0], 0)
    return Bounds.arrays(self, value, structure, depth)


def _joins_to_the_first(self: Any, a: bool, b: bool) -> bool:
    return a


def _forgets_the_last_case(self: Any, index: Any, cases: Any) -> Any:
    return Bounds.select(self, index, cases[:-1])


carrier("known value promoted with a zero", arrays=_promotes_with_zero)
carrier("join of structures is the first", join_structures=_joins_to_the_first)
carrier("selection leaves out a case", select=_forgets_the_last_case)


def backend(name: str, **changed: Any) -> None:
    """A backend that changes programs before it runs them, or results afterwards."""

    def made(faulty: bool) -> Conformance:
        for key in ("change", "finish"):
            setattr(backends.BACKEND, key, (changed if faulty else {}).get(key, backends.unchanged))
        return Conformance("conformance", quick=3)

    FAULTS.append(Fault(name, "backend thirdparty", "backend", made))


backend("a backend takes the first branch", change=backends.first_branch)
