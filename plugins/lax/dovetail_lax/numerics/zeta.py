"""The zeta function of Hurwitz and polygamma functions of negative numbers, by reflection.

The sum of (k + q)^-s over all integers k, for an integer s > 1, is ζ(s, q) + (-1)^s ζ(s, 1 - q),
and that of (k + r)^-s with r = q - round(q), which is r^-s + ζ(s, 1 + r) + (-1)^s ζ(s, 1 - r). So

    ζ(s, q) = r^-s + ζ(s, 1 + r) + (-1)^s (ζ(s, 1 - r) - ζ(s, 1 - q)),

in which all arguments are positive where q is negative. Polygamma functions are multiples of it,
(-1)^s (s - 1)! ζ(s, q) for s = m + 1. The error is a rounding of the largest term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..functions.arithmetic import add, mul, neg, pow, sub
from ..functions.control_flow.branches import cond
from ..functions.discrete import bitwise_and, bitwise_not, bitwise_or, eq, floor, gt, lt, round
from ..functions.operands import unary
from ..functions.transcendental import exp
from ..functions.values import select
from ..primitives.special import (
    digamma_p,
    lgamma_p,
    positive_polygamma_p,
    positive_zeta_p,
)
from .precision import any_true, filled, in_single


def _reflected(positive: Callable[[Any], Any], s: Any, q: Any, scale: Any) -> Any:
    """A multiple of ζ(s, q) for all q, from that for positive q and the factor ``scale``."""
    negative, one = lt(q, 0.0), filled(q, 1.0)
    r = select(negative, sub(q, round(q)), filled(q, 0.0))
    even = eq(mul(floor(mul(s, 0.5)), 2.0), s)
    size = select(lt(r, 0.0), neg(r), select(gt(r, 0.0), r, one))
    centre = mul(scale, pow(size, neg(s)))
    centre = select(bitwise_or(gt(r, 0.0), even), centre, neg(centre))
    value = positive(select(negative, add(r, 1.0), q))
    below, rest = positive(sub(1.0, r)), positive(select(negative, sub(1.0, q), one))
    below, rest = (select(even, x, neg(x)) for x in (below, rest))
    total = add(centre, add(value, below))
    # Halfway between poles, sums of odd powers cancel.
    cancel = bitwise_and(eq(size, 0.5), bitwise_not(even))
    total = sub(select(cancel, filled(q, 0.0), total), rest)
    pole = select(eq(r, 0.0), mul(scale, filled(q, float("inf"))), total)
    known = bitwise_and(eq(floor(s), s), gt(s, 1.0))
    return select(negative, select(known, pole, filled(q, float("nan"))), value)


def _where_negative(q: Any, reflected: Callable[[], Any], positive: Callable[[], Any]) -> Any:
    """The first only where there are negative numbers: it costs three times as much."""
    return cond(any_true(lt(q, 0.0)), reflected, positive)


@in_single
def zeta(s: Any, q: Any) -> Any:
    """ζ(s, q)."""

    def positive(q: Any) -> Any:
        return positive_zeta_p.bind(s, q)

    def reflected() -> Any:
        value = _reflected(positive, s, q, filled(q, 1.0))
        return select(eq(s, 1.0), filled(q, float("inf")), value)

    return _where_negative(q, reflected, lambda: positive(q))


@in_single
def polygamma(m: Any, x: Any) -> Any:
    """The m-th derivative of digamma."""

    def positive(x: Any) -> Any:
        return positive_polygamma_p.bind(m, x)

    def reflected() -> Any:
        s = add(m, 1.0)
        size = exp(unary(lgamma_p, s))
        scale = select(eq(mul(floor(mul(s, 0.5)), 2.0), s), size, neg(size))
        value = _reflected(positive, s, x, scale)
        return select(eq(m, 0.0), unary(digamma_p, x), value)

    return _where_negative(x, reflected, lambda: positive(x))
