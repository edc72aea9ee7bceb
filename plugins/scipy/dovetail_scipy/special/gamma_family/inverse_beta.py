"""The inverse of the regularised incomplete beta function in x, as the odds x/(1 - x).

Odds distinguish numbers near 1. The start is Carter's approximation by a normal variable
(Abramowitz and Stegun 26.5.22), or, where a parameter is small, the power at the nearer end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..error_family.normal import ndtri_kernel
from ..evaluation import by_forward_mode, differentiable
from ..series import log1p
from .beta_functions import betaln_kernel
from .incomplete_beta import power_term, tails
from .inversion import solve


def parts(odds: Any) -> tuple[Any, Any]:
    """x and 1 - x."""
    over = odds > 1.0
    inverse = 1.0 / dnp.where(over, odds, 1.0)
    less = dnp.where(over, 1.0, odds)
    return (
        dnp.where(over, 1.0 / (1.0 + inverse), less / (1.0 + less)),
        dnp.where(over, inverse / (1.0 + inverse), 1.0 / (1.0 + less)),
    )


def log_beginning(a: Any, b: Any, p: Any, q: Any) -> Any:
    """The logarithm of x where it is small, from the leading power of the function."""
    log_p = dnp.where(p < q, lax.log(p), lax.log1p(-q))
    return (log_p + lax.log(a) + betaln_kernel(a, b)) / a


def _carter(a: Any, b: Any, z: Any) -> tuple[Any, Any]:
    """The odds with the probability of a normal variable below ``z``; a mask where it is good."""
    c, d = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h, k = 2.0 / (c + d), (z * z - 3.0) / 6.0
    w = -z * lax.sqrt(h + k) / h - (d - c) * (k + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return a / b * lax.exp(-2.0 * w), lax.abs(z) * lax.sqrt(h + k) < 1.5 * h


def _start(a: Any, b: Any, p: Any, q: Any) -> Any:
    low = p < q
    z = ndtri_kernel(dnp.where(low, p, q))
    z = dnp.where(low, z, -z)
    both = dnp.logical_and(a > 1.0, b > 1.0)
    normal, is_near = _carter(dnp.where(both, a, 2.0), dnp.where(both, b, 2.0), z)
    in_b = b * log1p(-a / (a + b)) - lax.log(b)  # the probability near each end
    at_most = a * log1p(-b / (a + b)) - lax.log(a) - in_b
    at_end = dnp.where(both, p > q, lax.log(p) - lax.log(q) > at_most)
    nearest = dnp.where(at_end, log_beginning(b, a, q, p), log_beginning(a, b, p, q))
    nearest = 1.0 / lax.expm1(-lax.min(nearest, lax.full_like(nearest, -0.05)))
    return dnp.where(
        dnp.logical_and(both, is_near), normal, dnp.where(at_end, 1.0 / nearest, nearest)
    )


def inverse_odds(a: Any, b: Any, p: Any, q: Any) -> Any:
    """The odds of the x at which I_x(a, b) is ``p`` and the rest ``q``, both positive."""

    def measure(odds: Any) -> Any:
        x, y = parts(odds)
        return *tails(a, b, x, y), power_term(a, b, x, y), a * y - b * x

    return solve(measure, _start(a, b, p, q), p, q)


def _derived(a: Any, b: Any, odds: Any) -> Any:
    return tails(a, b, *parts(odds), is_derived=True)[0]


_SLOPES = [by_forward_mode(_derived, i, 3) for i in (0, 1)]


def _safe(odds: Any) -> tuple[Any, Any]:
    usual = dnp.logical_and(odds > 0, odds < np.inf)
    return usual, dnp.where(usual, odds, 1.0)


def _in_p(out: Any, a: Any, b: Any, p: Any) -> Any:
    usual, odds = _safe(out)
    return dnp.where(usual, odds / power_term(a, b, *parts(odds)), 0.0)


def _in_a(out: Any, a: Any, b: Any, p: Any) -> Any:
    odds = _safe(out)[1]
    return -_SLOPES[0](None, a, b, odds) * _in_p(out, a, b, p)


def _in_b(out: Any, a: Any, b: Any, p: Any) -> Any:
    odds = _safe(out)[1]
    return -_SLOPES[1](None, a, b, odds) * _in_p(out, a, b, p)


@differentiable(_in_a, _in_b, _in_p)
def inverse_lower(a: Any, b: Any, p: Any) -> Any:
    """The odds x/(1 - x) at which I_x(a, b) is ``p``, for positive a and b and 0 < p < 1."""
    return inverse_odds(a, b, p, 1.0 - p)
