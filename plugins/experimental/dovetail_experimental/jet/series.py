"""Taylor mode: a truncated power series in place of every array, carried through a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import Carrier, LiftTrace, RuleTable, algebra, typeof

Series = tuple[Any, ...]
"""Coefficients of the powers of t, from the constant one on; those that are left out are zero."""

series_rules: RuleTable[Callable[..., Any]] = RuleTable("experimental.series")
"""Rules are ``rule(carrier, args, params)``: from series of the operands, of which at least one has
a second coefficient, to the series of the result (a list of them where there are multiple results),
of at most ``carrier.order + 1`` coefficients, each of the type of the first."""


class ZeroTerm:
    """A term of a series that is zero."""


class ZeroSeries:
    """A series of which every term is zero."""


zero_term = ZeroTerm()
zero_series = ZeroSeries()


class SeriesTrace(LiftTrace[Series]):
    """Runs operations on series by the rules of ``experimental.series``."""

    __slots__ = ()
    what = "jet"


class SeriesCarrier(Carrier[Series, int]):
    """Lifted values are series; their structure is the degree."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.key = ("series", order)

    def trace(self, parent: Any) -> SeriesTrace:
        return SeriesTrace(parent, self, series_rules)

    def pure(self, x: Any) -> Series:
        return (x,)

    def aval(self, value: Series) -> Any:
        return typeof(value[0])

    def structure(self, value: Series, depth: int) -> int:
        return len(value) - 1

    def join_structures(self, a: int, b: int) -> int:
        return max(a, b)

    def types(self, aval: Any, structure: int) -> tuple[Any, ...]:
        return (aval,) * (structure + 1)

    def arrays(self, value: Series, structure: int, depth: int) -> Series:
        return tuple(coefficient(value, k) for k in range(structure + 1))

    def value(self, arrays: Sequence[Any], structure: int, depth: int) -> Series:
        return tuple(arrays)

    def known(self, value: Series) -> Any:
        return value[0] if len(value) == 1 else None

    def primal(self, value: Series) -> Any:
        return value[0]


def coefficient(x: Series, k: int) -> Any:
    """The coefficient of the power ``k``."""
    return x[k] if k < len(x) else algebra().full(typeof(x[0]), 0)


def scaled(x: Any, factor: float) -> Any:
    """``x`` times a number, of the type of ``x``."""
    aval: Any = typeof(x)
    one = algebra().full(aval.update(shape=()), factor)
    return x if factor == 1 else algebra().mul(x, one)
