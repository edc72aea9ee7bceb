"""Inverses of the regularised incomplete gamma functions in x.

The start is Wilson and Hilferty's cube of a normal variable ("The distribution of chi-square",
1931), or the first term of the expansion at 0 or at infinity, as DiDonato and Morris choose them
("Computation of the incomplete gamma function ratios and their inverse", 1986).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..error_family.normal import ndtri_kernel
from ..evaluation import differentiable
from .gamma_functions import gammaln_kernel
from .incomplete_gamma import density_term, order_slope, tails
from .inversion import solve


def _start(a: Any, p: Any, q: Any) -> Any:
    small = p < q
    z = ndtri_kernel(dnp.where(small, p, q))
    z = dnp.where(small, z, -z)
    cube_root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * lax.sqrt(a))
    log_p = dnp.where(small, lax.log(p), lax.log1p(-q))
    first = lax.exp((log_p + gammaln_kernel(a + 1.0)) / a)
    far = -lax.log(q) - gammaln_kernel(a)
    last = far - (1.0 - a) * lax.log(dnp.where(far > 1.5, far, 1.5))
    near = dnp.where(dnp.logical_and(a < 1.0, far > 1.5), last, first)
    wide = dnp.logical_and(a >= 1.0, cube_root > 0.3)
    return dnp.where(wide, a * cube_root * cube_root * cube_root, near)


def _inverse(a: Any, p: Any, q: Any) -> Any:
    inside = dnp.logical_and(dnp.logical_and(a > 0, a < np.inf), dnp.logical_and(p > 0, q > 0))
    a, p, q = (dnp.where(inside, v, c) for v, c in ((a, 1.0), (p, 0.5), (q, 0.5)))

    def measure(x: Any) -> Any:
        return *tails(a, x), a * density_term(a, x), a - x

    ends = dnp.where(p <= 0, 0.0, np.inf)
    return dnp.where(inside, solve(measure, _start(a, p, q), p, q), ends)


def _safe(x: Any) -> tuple[Any, Any]:
    usual = dnp.logical_and(x > 0, x < np.inf)
    return usual, dnp.where(usual, x, 1.0)


def _in_a(out: Any, a: Any, p: Any) -> Any:
    usual, x = _safe(out)
    return dnp.where(usual, -order_slope(a, x) * (x / (a * density_term(a, x))), 0.0)


def _in_p(out: Any, a: Any, p: Any) -> Any:
    usual, x = _safe(out)
    return dnp.where(usual, x / (a * density_term(a, x)), 0.0)


@differentiable(_in_a, _in_p)
def inverse_lower(a: Any, p: Any) -> Any:
    """The x at which P(a, x) is ``p``, for 0 < p < 1."""
    return _inverse(a, p, 1.0 - p)


@differentiable(_in_a, lambda out, a, q: -_in_p(out, a, q))
def inverse_upper(a: Any, q: Any) -> Any:
    """The x at which Q(a, x) is ``q``, for 0 < q < 1."""
    return _inverse(a, 1.0 - q, q)
