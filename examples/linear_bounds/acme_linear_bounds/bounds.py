"""Linear bounds: below and above each value an affine function of the input, and two numbers.

The input is where ``t`` in the unit cube (from -1 to 1 in each element) is mapped to by its middle
and radius, so that the extrema of an affine function of ``t`` follow from its slopes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_tree.util as tree
from dovetail_core import (
    Carrier,
    LiftTrace,
    MissingRule,
    RuleTable,
    ShapedArray,
    algebra,
    current_source,
    describe_source,
    is_inexact,
    lift_call,
    typeof,
)


def aval_of(x: Any) -> Any:
    """The type of an array."""
    return typeof(x)


class Affine(NamedTuple):
    """``sum(slope * t) + offset``: the slopes of an element are along the last axis."""

    slope: Any
    offset: Any

    def reach(self, sign: int) -> Any:
        """The least (``sign`` -1) or the greatest (+1) value over the cube."""
        size = algebra().sum(lax.abs(self.slope), (len(aval_of(self.offset).shape),))
        return lax.add(self.offset, size) if sign > 0 else lax.sub(self.offset, size)

    def where(self, condition: Any, other: Affine) -> Affine:
        """This one where ``condition``, else the other, element by element."""
        select = algebra().select
        slope = select(condition, other.slope, self.slope)
        return Affine(slope, select(condition, other.offset, self.offset))


class Bounds(NamedTuple):
    """A known array is both ``low`` and ``high``. A real one that is not has affine bounds, too;
    an integer or boolean has numbers only. NaN says that nothing is known."""

    low: Any
    high: Any
    below: Affine | None = None
    above: Affine | None = None

    @property
    def known(self) -> bool:
        return self.low is self.high


affine_rules: RuleTable[Callable[..., Any]] = RuleTable("linear_bounds.affine")
"""Rules are ``rule(carrier, args, params)``: from bounds of the operands, of which at least one is
not known, to bounds of the result (a list of them where the primitive has multiple results)."""


class BoundsTrace(LiftTrace[Bounds]):
    """Runs operations on bounds by the rules of ``linear_bounds.affine``."""

    __slots__ = ()
    what = "linear_bounds"


class BoundsCarrier(Carrier[Bounds, int]):
    """Lifted values are bounds on a box of ``n`` elements; their structure is how many arrays these
    are: one (known), two (numbers) or six (affine functions as well)."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.key = ("linear_bounds", n)

    def trace(self, parent: Any) -> BoundsTrace:
        return BoundsTrace(parent, self, affine_rules)

    def pure(self, x: Any) -> Bounds:
        return Bounds(x, x)

    def aval(self, value: Bounds) -> Any:
        return typeof(value.low)

    def structure(self, value: Bounds, depth: int) -> int:
        return 1 if value.known else 2 if value.below is None else 6

    def join_structures(self, a: int, b: int) -> int:
        return max(a, b)

    def types(self, aval: Any, structure: int) -> tuple[Any, ...]:
        if structure < 6:
            return (aval,) * structure
        slope = ShapedArray((*aval.shape, self.n), aval.dtype)
        return (aval, aval, slope, aval.strong(), slope, aval.strong())

    def arrays(self, value: Bounds, structure: int, depth: int) -> tuple[Any, ...]:
        if structure < 6:
            return value[:structure]
        return (*value[:2], *self.affine(value, -1), *self.affine(value, 1))

    def value(self, arrays: Sequence[Any], structure: int, depth: int) -> Bounds:
        if len(arrays) < 6:
            return Bounds(arrays[0], arrays[-1])
        low, high, *lines = arrays
        return Bounds(low, high, Affine(*lines[:2]), Affine(*lines[2:]))

    def known(self, value: Bounds) -> Any:
        return value.low if value.known else None

    def affine(self, value: Bounds, sign: int) -> Affine:
        """The affine function below (-1) or above (+1) a real value; constant where it has none."""
        found = value.below if sign < 0 else value.above
        return self.constant(value[sign > 0]) if found is None else found

    def constant(self, x: Any) -> Affine:
        """The affine function that is ``x`` everywhere."""
        aval = aval_of(x).strong()
        slope = algebra().full(ShapedArray((*aval.shape, self.n), aval.dtype), 0)
        return Affine(slope, algebra().convert(x, aval))

    def bounds(self, low: Any, high: Any, below: Affine | None = None, above: Any = None) -> Bounds:
        """The tightest that follows: numbers from affine functions, and where one of these is not
        finite the number instead."""
        kind = aval_of(low)
        if getattr(kind.dtype, "kind", "c") == "c":
            raise MissingRule(
                f"linear_bounds: a value of type {kind.str_short()} has no bounds, for such values "
                f"have no order{describe_source(current_source())}. Take bounds of its parts."
            )
        if not is_inexact(kind.dtype):
            return Bounds(low, high)
        ends: list[Any] = []
        for sign, number, given in ((-1, low, below), (1, high, above)):
            line = self.constant(number) if given is None else given
            reach = algebra().convert(line.reach(sign), aval_of(number))
            better = lax.gt(reach, number) if sign < 0 else lax.lt(reach, number)
            better = lax.bitwise_or(better, lax.ne(number, number))
            number = algebra().select(better, number, reach)
            finite = lax.is_finite(line.reach(1) if sign < 0 else line.reach(-1))
            finite = lax.bitwise_and(finite, lax.is_finite(line.reach(sign)))
            ends.append((number, line.where(finite, self.constant(number))))
        return Bounds(ends[0][0], ends[1][0], ends[0][1], ends[1][1])

    def select(self, index: Bounds, cases: Sequence[Bounds]) -> Bounds:
        """The case that is certain, else the hull of all."""
        sure, pick, select = lax.eq(index.low, index.high), algebra().pick, algebra().select
        hull = [cases[0].low, cases[0].high]
        for case in cases[1:]:
            hull = [algebra().min(hull[0], case.low), algebra().max(hull[1], case.high)]
        ends = [select(sure, h, pick(index.low, [c[i] for c in cases])) for i, h in enumerate(hull)]
        if not is_inexact(aval_of(hull[0]).dtype):
            return Bounds(*ends)
        lines: list[Affine] = []
        for sign, number in zip((-1, 1), ends):
            each = [self.affine(c, sign) for c in cases]
            chosen = Affine(*(pick(index.low, parts) for parts in zip(*each)))
            lines.append(chosen.where(sure, self.constant(number)))
        return self.bounds(*ends, *lines)

    def may(self, predicate: Bounds) -> Any:
        raise TypeError(
            f"linear_bounds: whether a loop goes on{describe_source(current_source())} depends on "
            "values of which only bounds are known. Let it run a fixed number of times (fori_loop, "
            "scan)."
        )


def linear_bounds(f: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """Bounds of ``f(x, *args)`` for all ``x`` between two bounds, by affine functions of ``x``.

    Args:
        f: a function of a pytree of real floating-point arrays, and of arguments that are known.

    Returns: a function ``(low, high, *args)`` of two pytrees of one structure and types, with
        ``low <= high``, to a pair of pytrees like the result of ``f``: for all ``x`` of the box
        ``f(x)`` is between the two, up to rounding, except where one of them is NaN, which says
        that nothing is known.

    Raises:
        TypeError: ``low`` and ``high`` differ in structure or types, or are not real numbers of
            floating point; or whether a loop goes on is uncertain.
        MissingRule: ``f`` applies an operation of which no bounds are known.
    """

    def bounds(low: Any, high: Any, *args: Any) -> tuple[Any, Any]:
        (lows, structure), (highs, other) = tree.tree_flatten(low), tree.tree_flatten(high)
        if structure != other:
            differences = "; ".join(tree.tree_differences(structure, other))
            raise TypeError(f"linear_bounds: low and high must have one structure: {differences}")
        carrier = BoundsCarrier(sum(aval_of(x).size for x in lows))
        found: list[Any] = []

        def flat(*leaves: Any) -> list[Any]:
            found[:] = tree.tree_flatten(f(tree.tree_unflatten(structure, leaves), *args))
            return found[0]

        outs = lift_call(carrier, flat, _inputs(carrier, lows, highs))
        ends = zip(*[(b.low, b.high) for b in outs]) if outs else ((), ())
        first, last = (tree.tree_unflatten(found[1], end) for end in ends)
        return first, last

    return bounds


def _inputs(carrier: BoundsCarrier, lows: list[Any], highs: list[Any]) -> list[Bounds]:
    values: list[Bounds] = []
    start = 0
    for low, high in zip(lows, highs):
        a, b = aval_of(low).strong(), aval_of(high).strong()
        if a is not b or not is_inexact(a.dtype) or a.dtype.kind == "c":
            raise TypeError(
                f"linear_bounds: low has type {a.str_short()} and high {b.str_short()}; they are "
                "to be of one type, real and of floating point. Convert them."
            )
        low, high = (algebra().convert(x, a) for x in (low, high))
        half = algebra().full(a, 0.5)
        middle = algebra().mul(half, lax.add(low, high))
        radius = algebra().mul(half, lax.sub(high, low))
        own = np.arange(start, start + a.size).reshape(*a.shape, 1) == np.arange(carrier.n)
        spread = lax.broadcast_in_dim(radius, own.shape, range(len(a.shape)))
        line = Affine(lax.mul(spread, own.astype(a.dtype)), middle)
        values.append(Bounds(low, high, line, line))
        start += a.size
    return values
