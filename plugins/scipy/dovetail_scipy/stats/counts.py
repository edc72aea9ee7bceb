"""Probabilities and quantiles of counts.

A quantile is the smallest integer at which a probability is reached. The search starts at a normal
approximation with Cornish and Fisher's term for skewness ("Moments and cumulants in the
specification of distributions", 1937), continues by steps that double until the integer is between
two that were tried, and halves this interval.

The derivative of a probability in a parameter is the probability times that of its logarithm, which
has no cancellation. At an end of the parameter's range, where the probability vanishes and its
logarithm is minus infinity, the derivative is a difference of two neighbouring probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..special import ndtri
from ..special.evaluation import differentiable, partial_of

_LIMIT = 200
_ROUNDING = 16
"""The number of roundings by which a probability may be less than the requested one."""

Standard = Callable[..., Any]
Moments = Callable[..., tuple[Any, Any, Any]]
"""A function of the parameters: mean, standard deviation, and the skewness times that."""


def below(cdf: Standard, moments: Moments, high: Standard | None = None) -> Standard:
    """The inverse of ``cdf``: the least count that reaches ``q``, at most ``high(*shapes)``."""
    return _inverse(lambda k, q, shapes: cdf(k, *shapes) >= less(q), 1, moments, high)


def above(sf: Standard, moments: Moments, high: Standard | None = None) -> Standard:
    """The inverse of ``sf``: the least count from 0, at most ``high(*shapes)``, not above ``q``."""
    return _inverse(lambda k, q, shapes: sf(k, *shapes) <= more(q), -1, moments, high)


def less(q: Any) -> Any:
    """``q`` less some roundings, so that the quantile of a computed probability is its count."""
    return q * (1.0 - _ROUNDING * float(np.finfo(q.dtype).eps))


def more(q: Any) -> Any:
    """``q`` plus some roundings."""
    return q * (1.0 + _ROUNDING * float(np.finfo(q.dtype).eps))


def _inverse(
    reached: Callable[..., Any], sign: int, moments: Moments, high: Standard | None
) -> Standard:
    def inverse(q: Any, *shapes: Any) -> Any:
        q = lax.stop_gradient(q)  # steps have no derivatives
        shapes = tuple(lax.stop_gradient(v) for v in shapes)
        mean, spread, skew = moments(*shapes)
        z = sign * ndtri(q)
        start = lax.floor(mean + spread * z + skew * (z * z - 1.0) / 6.0)
        most = float(np.finfo(q.dtype).max) / 4.0
        last = lax.full_like(q, most) if high is None else high(*shapes)
        stride = lax.floor(1.0 + 0.02 * dnp.where(spread < most, spread, 0.0))
        return _search(lambda k: reached(k, q, shapes), start, stride, last)

    return inverse


def _search(reached: Callable[[Any], Any], start: Any, stride: Any, last: Any) -> Any:
    """The least integer from 0 to ``last`` that is ``reached``; ``last`` always is."""

    def between(k: Any, low: Any, high: Any) -> Any:
        return dnp.logical_and(k > low, k < high)

    def going(state: Any) -> Any:
        n, k, low, high, _ = state
        return dnp.logical_and(n < _LIMIT, dnp.any(between(k, low, high)))

    def step(state: Any) -> Any:
        n, k, low, high, stride = state
        hit, there = reached(k), between(k, low, high)
        high = dnp.where(dnp.logical_and(there, hit), k, high)
        low = dnp.where(dnp.logical_and(there, dnp.logical_not(hit)), k, low)
        near = dnp.where(hit, k - stride, k + stride)
        middle = lax.floor(low + 0.5 * (high - low))
        return n + 1, dnp.where(between(near, low, high), near, middle), low, high, stride * 2.0

    low = lax.full_like(last, -1.0)
    k = dnp.where(start > 0, lax.min(start, last - 1.0), 0.0)
    return lax.while_loop(going, step, (0, k, low, last, stride))[3]


Function = Callable[..., Any]


def probability(
    log: Function, arity: int, position: int, is_end: Function, at_end: Function
) -> Function:
    """``exp(log(...))`` of ``arity`` arguments with its slopes.

    Args:
        position: the argument at whose ends probabilities vanish.
        is_end: whether it is at an end.
        at_end: ``at_end(itself, value, *args)``: the slope in it there.
    """

    def usual(argnum: int, out: Any, args: tuple[Any, ...]) -> Any:
        return out * partial_of(log, argnum, arity)(*args)

    def partial(argnum: int) -> Function:
        if argnum != position:
            return lambda out, *args: usual(argnum, out, args)

        def slope(out: Any, *args: Any) -> Any:
            end = is_end(args[position])
            inner = dnp.where(end, 0.5, args[position])
            away = usual(argnum, out, (*args[:position], inner, *args[position + 1 :]))
            return dnp.where(end, at_end(mass_function, out, *args), away)

        return slope

    @differentiable(*[partial(i) for i in range(arity)])
    def mass_function(*args: Any) -> Any:
        return lax.exp(log(*args))

    return mass_function


def before(mass: Function, k: Any, *args: Any) -> Any:
    """The probability of the count before ``k``; 0 if there is none."""
    return dnp.where(k > 0, mass(dnp.where(k > 0, k - 1.0, 0.0), *args), 0.0)
