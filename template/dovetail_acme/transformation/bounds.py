"""Bounds of functions: a rule table, a carrier, a trace, and the function for users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import Carrier, LiftTrace, RuleTable, algebra, derive, here, lift_call, typeof

Bounds = tuple[Any, Any]
"""The bounds of an array; where the array itself is known, both are that one object."""


class BoundsRule(Protocol):
    """Bounds of the result of an operation.

    ``rule(carrier, args, params)`` gets the bounds of each operand and returns those of the result
    (a list of them where the primitive has multiple results).
    """

    def __call__(self, carrier: Any, args: Sequence[Bounds], params: Any) -> Any: ...


bounds_rules: RuleTable[Any] = RuleTable(
    "acme.bounds",
    signature=BoundsRule,
    derive=derive,  # from a decomposition, or from sub-programs: loops, branches, jit
    law="bounds",
)


class BoundsTrace(LiftTrace[Bounds]):
    """Runs operations on bounds by the rules of ``acme.bounds``."""

    __slots__ = ()
    what = "bounds"


class BoundsCarrier(Carrier[Bounds, bool]):
    """Lifted values are pairs of bounds; their structure is whether these are two arrays or one."""

    key = "acme.bounds"

    def trace(self, parent: Any) -> BoundsTrace:
        return BoundsTrace(parent, self, bounds_rules)

    def pure(self, x: Any) -> Bounds:
        return x, x

    def aval(self, value: Bounds) -> Any:
        return typeof(value[0])

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

    def select(self, index: Bounds, cases: Sequence[Bounds]) -> Bounds:
        low, high = cases[0]
        for a, b in cases[1:]:  # any of them may be the one
            low, high = algebra().min(low, a), algebra().max(high, b)
        return low, high

    def may(self, predicate: Bounds) -> Any:
        raise TypeError(
            f"bounds: whether a loop goes on{here()} depends on values of which only bounds are "
            "known. Let it run a fixed number of times (fori_loop, scan)."
        )


CARRIER = BoundsCarrier()


def bounds(f: Callable[..., Any]) -> Callable[..., Any]:
    """Bounds of ``f(x, ...)`` for all arguments between two bounds.

    Args:
        f: a function of arrays, to an array or a list of them.

    Returns: a function of one pair ``(low, high)`` for each argument of ``f``, each a pair of
        arrays of one type, to a pair (a list of pairs) such that every result of ``f`` is between.

    Raises:
        TypeError: the bounds of an argument differ in type.
        MissingRule: ``f`` applies a primitive without a rule in ``acme.bounds``.
    """

    def bounded(*pairs: Bounds) -> Any:
        for i, (low, high) in enumerate(pairs):
            a, b = typeof(low), typeof(high)
            if a != b:
                raise TypeError(
                    f"bounds: the bounds of argument {i} have types {a.str_short()} and "
                    f"{b.str_short()}{here()}. Convert or reshape one of them."
                )
        return lift_call(CARRIER, f, pairs)

    return bounded
