"""Interval bounds: a lower and an upper bound of every array, carried through a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import dovetail_tree.util as tree
from dovetail_core import (
    Carrier,
    LiftTrace,
    RegionInterface,
    RuleTable,
    algebra,
    derive,
    lift_call,
    typeof,
)

from .loops import UncertainLoop
from .order import limits, real

Bounds = tuple[Any, Any]
"""The bounds of an array; where the array itself is known, both are that one object."""

bounds_rules: RuleTable[Callable[..., Any]] = RuleTable("interval.bounds", derive=derive)
"""Rules are ``rule(carrier, args, params)``: from bounds of the operands, of which at least one is
not known, to bounds of the result (a list of them where the primitive has multiple results)."""


class IntervalTrace(LiftTrace[Bounds]):
    """Runs operations on bounds by the rules of ``interval.bounds``."""

    __slots__ = ()
    what = "interval"


class IntervalCarrier(Carrier[Bounds, bool]):
    """Lifted values are pairs of bounds; their structure is whether these are two arrays or one.

    ``widen_after`` says for how many iterations it may be uncertain whether a loop goes on.
    """

    def __init__(self, patience: int) -> None:
        self.widen_after = patience
        self.key = ("interval", patience)

    def trace(self, parent: Any) -> IntervalTrace:
        return IntervalTrace(parent, self, bounds_rules)

    def pure(self, x: Any) -> Bounds:
        return x, x

    def aval(self, value: Bounds) -> Any:
        return real(typeof(value[0]))

    def structure(self, value: Bounds, depth: int) -> bool:
        return value[0] is not value[1]

    def join_structures(self, a: bool, b: bool) -> bool:
        return a or b

    def types(self, aval: Any, structure: bool) -> tuple[Any, ...]:
        return (aval, aval) if structure else (aval,)

    def arrays(self, value: Bounds, structure: bool, depth: int) -> tuple[Any, ...]:
        return value if structure else value[:1]

    def value(self, arrays: Sequence[Any], structure: bool, depth: int) -> Bounds:
        return arrays[0], arrays[-1]

    def known(self, value: Bounds) -> Any:
        return value[0] if value[0] is value[1] else None

    def may(self, predicate: Bounds) -> Any:
        return algebra().any(predicate[1])

    def select(self, index: Bounds, cases: Sequence[Bounds]) -> Bounds:
        # hulls[i][j] covers the cases from i to j, of which the bounds of the index pick one.
        hulls = [[*cases[:i], *accumulate(cases[i:], self.join)] for i in range(len(cases))]
        pick, (first, last) = algebra().pick, index
        low = pick(first, [pick(last, [hull[0] for hull in row]) for row in hulls])
        return low, pick(first, [pick(last, [hull[1] for hull in row]) for row in hulls])

    def join(self, a: Bounds, b: Bounds) -> Bounds:
        """The least bounds of all that ``a`` or ``b`` bound."""
        real(typeof(a[0]))
        return algebra().min(a[0], b[0]), algebra().max(a[1], b[1])

    def top(self, aval: Any) -> Bounds:
        """The bounds of all arrays of a type: what a loop that did not end leaves."""
        low, high = limits(aval.dtype)
        return algebra().full(aval, low), algebra().full(aval, high)

    def lift_loop(  # type: ignore[override]
        self, primitive: Any, interface: RegionInterface, args: Any, ins: Any, predicate: bool
    ) -> list[Bounds]:
        return UncertainLoop(self, interface, ins, predicate).run(primitive, args)


def interval(f: Callable[..., Any], *, patience: int = 1000) -> Callable[..., tuple[Any, Any]]:
    """Bounds of ``f(x, *args, **kwargs)`` for all ``x`` between two bounds.

    Args:
        f: a function of a pytree of real arrays, and perhaps of further arguments, which are known.
        patience: for how many iterations it may be uncertain whether a loop in ``f`` goes on;
            of the results of one that takes more nothing is known.

    Returns: a function ``(lo, hi, *args, **kwargs)`` of two pytrees of one structure and types,
        with ``lo <= hi`` in every element, to a pair of pytrees like the result of ``f``. For each
        ``x`` from ``lo`` to ``hi`` at which no operation of ``f`` yields NaN, ``f(x)`` is from the
        first to the second in every element, except where one of these is NaN: it says nothing.

    Raises:
        TypeError: ``lo`` and ``hi`` differ in structure or types, or are not real.
        MissingRule: ``f`` applies an operation of which no installed plugin knows bounds.
    """
    carrier = IntervalCarrier(patience)

    def bounds(lo: Any, hi: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        (lows, structure), (highs, other) = tree.tree_flatten_with_path(lo), tree.tree_flatten(hi)
        if structure != other:
            differences = "; ".join(tree.tree_differences(structure, other))
            raise TypeError(f"interval: lo and hi must have one structure: {differences}")
        pairs = [_pair(tree.keystr(path), x, y) for (path, x), y in zip(lows, highs)]
        found: list[Any] = []

        def flat(*leaves: Any) -> list[Any]:
            found[:] = tree.tree_flatten(f(tree.tree_unflatten(structure, leaves), *args, **kwargs))
            return found[0]

        outs = lift_call(carrier, flat, pairs)
        low = tree.tree_unflatten(found[1], [b[0] for b in outs])
        return low, tree.tree_unflatten(found[1], [b[1] for b in outs])

    return bounds


def _pair(path: str, low: Any, high: Any) -> Bounds:
    """Bounds of one input. If only one of them is weakly typed, both become strongly typed."""
    a, b = typeof(low), typeof(high)
    if a.strong() is not b.strong():
        types = f"lo{path} has type {a.str_short()} and hi{path} {b.str_short()}"
        raise TypeError(f"interval: {types}; convert or reshape one of them")
    aval, convert = a if a is b else a.strong(), algebra().convert
    return convert(low, aval), convert(high, aval)
