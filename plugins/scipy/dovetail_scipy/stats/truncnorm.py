"""The normal distribution between ``a`` and ``b``, in terms of the standard one."""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from ..special import log_ndtr, ndtr
from .families import Arguments, Continuous

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def truncnorm(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Arguments:
    """the normal distribution truncated to what is between ``a`` and ``b``"""
    return Arguments(x, (a, b), loc, scale)


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability between ``a`` and ``b``, from the smaller tails."""
    across = (a <= 0) & (b >= 0)
    right = a > 0
    inner, outer = dnp.where(right, -a, b), dnp.where(right, -b, a)
    more = log_ndtr(dnp.where(across, 1.0, inner))
    less = log_ndtr(dnp.where(across, 0.0, outer))
    one_side = more + log1mexp(more - less)
    tails = dnp.where(across, ndtr(a) + ndtr(-b), 0.0)
    return dnp.where(across, lax.log1p(-tails), one_side)


def _log_density(z: Any, a: Any, b: Any) -> Any:
    return -0.5 * z * z - 0.5 * log(2 * pi) - _log_mass(a, b)


def _log_part(part: Any, rest: Any, a: Any, b: Any) -> Any:
    """The logarithm of a part of the whole mass, by the rest where that is the smaller one."""
    whole = _log_mass(a, b)
    small = part < rest
    other = dnp.where(small, -1.0, rest - whole)
    return dnp.where(small, part - whole, lax.log1p(-lax.exp(other)))


_truncnorm = Continuous(
    truncnorm, low=lambda a, b: a, high=lambda a, b: b, valid=lambda a, b: a < b
)
logpdf, pdf = _truncnorm.densities(_log_density)
cdf = _truncnorm.cdf(lambda z, a, b: lax.exp(_log_mass(a, z) - _log_mass(a, b)))
logcdf = _truncnorm.logcdf(lambda z, a, b: _log_part(_log_mass(a, z), _log_mass(z, b), a, b))
sf = _truncnorm.sf(lambda z, a, b: lax.exp(_log_mass(z, b) - _log_mass(a, b)))
logsf = _truncnorm.logsf(lambda z, a, b: _log_part(_log_mass(z, b), _log_mass(a, z), a, b))
