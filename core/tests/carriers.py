"""Two small forward-style transformations on toy primitives: interval bounds, and a mapped axis.

``Intervals`` has a structure that loops raise (a point becomes a range) and predicates that may be
undecided. ``Mapped`` has a structure that depends on loop axes (``depth``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail_core import (
    Carrier,
    LiftTrace,
    Primitive,
    RuleTable,
    ShapedArray,
    def_impl,
    derive,
    typeof,
)
from dovetail_testing.toy import (
    add_p,
    less_p,
    mul_p,
    neg_p,
    select_p,
    sin_p,
    sincos_p,
    sum_p,
)


class Interval(NamedTuple):
    """Bounds; a point where both are one object. Of booleans: surely true, possibly true."""

    lo: Any
    hi: Any


interval_rules: RuleTable[Any] = RuleTable("test.interval", derive=derive)


def minimum(x, y):
    return select_p.bind(less_p.bind(x, y), y, x)


def maximum(x, y):
    return select_p.bind(less_p.bind(x, y), x, y)


def hull(*cases: Interval) -> Interval:
    lo, hi = cases[0]
    for case in cases[1:]:
        lo, hi = minimum(lo, case.lo), maximum(hi, case.hi)
    return Interval(lo, hi)


def decide(which, old, new, undecided):
    """``new`` where ``which`` is surely true, ``old`` where it is surely not."""
    sure, maybe = which
    bounds = zip(old, new, undecided)
    return Interval(*[select_p.bind(sure, select_p.bind(maybe, o, u), n) for o, n, u in bounds])


class Intervals(Carrier):
    """The carrier of interval bounds."""

    key = None

    def trace(self, parent):
        return LiftTrace(parent, self, interval_rules)

    def pure(self, x):
        return Interval(x, x)

    def aval(self, value):
        return typeof(value.lo)

    def structure(self, value, depth):
        return "point" if value.lo is value.hi else "range"

    def join_structures(self, a, b):
        return max(a, b)  # "point" < "range"

    def types(self, aval, structure):
        return (aval,) if structure == "point" else (aval, aval)

    def arrays(self, value, structure, depth):
        return (value.lo,) if structure == "point" else (value.lo, value.hi)

    def value(self, arrays, structure, depth):
        return Interval(arrays[0], arrays[-1])

    def known(self, value):
        return value.lo if value.lo is value.hi else None

    def may(self, predicate):
        return predicate.hi

    def select(self, index, cases):
        if typeof(index.lo).dtype != np.bool_:
            return hull(*cases)
        # Whether the loop goes on is undecided: NaN, for unknown. It decides every comparison, so
        # that the loop ends; the hull of old and new would leave it undecided forever.
        (old, new), unknown = cases, np.float32(np.nan)
        return decide(index, old, new, Interval(unknown, unknown))


@interval_rules.register(add_p)
def _add(carrier, args, params):
    x, y = args
    return Interval(add_p.bind(x.lo, y.lo), add_p.bind(x.hi, y.hi))


@interval_rules.register(neg_p)
def _neg(carrier, args, params):
    return Interval(neg_p.bind(args[0].hi), neg_p.bind(args[0].lo))


@interval_rules.register(mul_p)
def _mul(carrier, args, params):
    products = [mul_p.bind(a, b) for a in args[0] for b in args[1]]
    return hull(*[Interval(p, p) for p in products])


@interval_rules.register(sin_p)
def _sin(carrier, args, params):
    # |sin x - sin m| <= |x - m| with m the middle, and never beyond 1.
    x = args[0]
    middle = mul_p.bind(add_p.bind(x.lo, x.hi), 0.5)
    radius = mul_p.bind(add_p.bind(x.hi, neg_p.bind(x.lo)), 0.5)
    low = add_p.bind(sin_p.bind(middle), neg_p.bind(radius))
    high = add_p.bind(sin_p.bind(middle), radius)
    return Interval(maximum(low, -1.0), minimum(high, 1.0))


@interval_rules.register(sincos_p)
def _sincos(carrier, args, params):
    return [Interval(-1.0, 1.0), Interval(-1.0, 1.0)]


@interval_rules.register(less_p)
def _less(carrier, args, params):
    x, y = args
    return Interval(less_p.bind(x.hi, y.lo), less_p.bind(x.lo, y.hi))


@interval_rules.register(select_p)
def _select(carrier, args, params):
    which, old, new = args
    return decide(which, old, new, hull(old, new))


move_axis_p = Primitive("test.move_axis")


@move_axis_p.def_abstract_eval
def _move_axis_type(x, *, source, destination):
    shape = list(x.shape)
    shape.insert(destination, shape.pop(source))
    return ShapedArray(shape, x.dtype)


@def_impl(move_axis_p)
def _move_axis(x, *, source, destination):
    return np.moveaxis(x, source, destination)


broadcast_p = Primitive("test.broadcast")


@broadcast_p.def_abstract_eval
def _broadcast_type(x, *, size):
    return ShapedArray((size, *x.shape), x.dtype)


@def_impl(broadcast_p)
def _broadcast(x, *, size):
    return np.broadcast_to(x, (size, *np.shape(x)))


class Lane(NamedTuple):
    """An array and the position of its mapped axis, None where it has none."""

    array: Any
    axis: int | None


mapped_rules: RuleTable[Any] = RuleTable("test.mapped", derive=derive)


class Mapped(Carrier):
    """The carrier of a mapped axis of length ``size``; joins put it in front."""

    def __init__(self, size):
        self.size = self.key = size

    def trace(self, parent):
        return LiftTrace(parent, self, mapped_rules)

    def pure(self, x):
        return Lane(x, None)

    def aval(self, value):
        aval = typeof(value.array)
        if value.axis is None:
            return aval
        shape = aval.shape[: value.axis] + aval.shape[value.axis + 1 :]
        return aval.update(shape=shape)

    def structure(self, value, depth):
        # What a loop slices is its leading axis: a mapped axis there is moved behind it first.
        return None if value.axis is None else max(0, value.axis - depth)

    def join_structures(self, a, b):
        return a if b is None or a == b else b if a is None else 0

    def types(self, aval, structure):
        if structure is None:
            return (aval,)
        shape = list(aval.shape)
        shape.insert(structure, self.size)
        return (aval.update(shape=shape),)

    def arrays(self, value, structure, depth):
        if structure is None:
            return (value.array,)
        x, axis = value
        if axis is None:
            x, axis = broadcast_p.bind(x, size=self.size), 0
        if axis != structure + depth:
            x = move_axis_p.bind(x, source=axis, destination=structure + depth)
        return (x,)

    def value(self, arrays, structure, depth):
        return Lane(arrays[0], None if structure is None else structure + depth)

    def known(self, value):
        return value.array if value.axis is None else None

    def may(self, predicate):
        ones = select_p.bind(predicate.array, np.int32(0), np.int32(1))
        return less_p.bind(np.int32(0), sum_p.bind(ones, axes=(0,)))

    def select(self, index, cases):
        old, new = (self.arrays(c, 0, 0)[0] for c in cases)
        (which,) = self.arrays(index, 0, 0)
        return Lane(select_p.bind(which, old, new), 0)


def _aligned(primitive):
    def rule(carrier, args, params):
        arrays = [carrier.arrays(a, 0, 0)[0] for a in args]
        return Lane(primitive.bind(*arrays, **params), 0)

    mapped_rules.set(primitive, rule)


for _p in (add_p, mul_p, neg_p, sin_p, less_p):
    _aligned(_p)
