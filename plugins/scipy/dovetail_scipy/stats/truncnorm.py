"""The normal distribution between ``a`` and ``b``, in terms of the standard one."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from ..special import erfcx, log_ndtr, ndtr
from ..special.error_family.normal import inverse_log_ndtr
from ..special.evaluation import differentiable
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]
__programs__ = ["cdf", "logcdf", "logpdf", "logsf", "sf"]


def truncnorm(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Arguments:
    """the normal distribution truncated to numbers between ``a`` and ``b``"""
    return Arguments(x, (a, b), loc, scale)


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability between ``a`` and ``b``, from the smaller tails."""
    across, right = (a <= 0) & (b >= 0), a > 0
    near = dnp.where(across, 0.0, dnp.where(right, a, -b))
    far = dnp.where(across, 1.0, dnp.where(right, b, -a))
    one_side = log_ndtr(-near) + log1mexp(_log_ratio(near, far))
    tails = dnp.where(across, ndtr(a) + ndtr(-b), 0.0)
    return dnp.where(across, lax.log1p(-tails), one_side)


def _log_ratio(near: Any, far: Any) -> Any:
    """The logarithm of the ratio of the probabilities beyond ``near`` and beyond ``far``, positive.

    Differences of logarithms would cancel where both are large and close.
    """
    never = far == np.inf
    end = dnp.where(never, near + 1.0, far)
    scaled = _log_scaled(near) - _log_scaled(end)
    return dnp.where(never, np.inf, 0.5 * (end - near) * (end + near) + scaled)


@differentiable(lambda out, z: z - sqrt(2 / pi) * lax.exp(-out))
def _log_scaled(z: Any) -> Any:
    """The logarithm of ``2 * exp(z**2 / 2)`` times the normal probability beyond ``z``."""
    return lax.log(erfcx(z * sqrt(0.5)))


def _log_density(z: Any, a: Any, b: Any) -> Any:
    return -0.5 * z * z - 0.5 * log(2 * pi) - _log_mass(a, b)


def _log_part(part: Any, rest: Any, a: Any, b: Any) -> Any:
    """The logarithm of a part of the total mass, from the rest if that is the smaller one."""
    mass = _log_mass(a, b)
    small = part < rest
    other = dnp.where(small, -1.0, rest - mass)
    return dnp.where(small, part - mass, lax.log1p(-lax.exp(other)))


def _quantiles(
    q: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Arguments:
    return truncnorm(q, a, b, loc, scale)


def _ratio(z: Any, end: Any) -> Any:
    """The ratio of the normal density at an end to that at ``z``."""
    return lax.exp(0.5 * (z - end) * (z + end))


def _in_a(z: Any, q: Any, a: Any, b: Any) -> Any:
    return dnp.where(a == -np.inf, 0.0, (1.0 - q) * _ratio(z, dnp.where(a == -np.inf, z, a)))


def _in_b(z: Any, q: Any, a: Any, b: Any) -> Any:
    return dnp.where(b == np.inf, 0.0, q * _ratio(z, dnp.where(b == np.inf, z, b)))


@differentiable(lambda z, q, a, b: lax.exp(-_log_density(z, a, b)), _in_a, _in_b)
def _inverse(q: Any, a: Any, b: Any) -> Any:
    """The quantile, from the smaller one of the normal probabilities below and above."""
    mass = _log_mass(a, b)
    low = dnp.logaddexp(log_ndtr(a), lax.log(q) + mass)
    high = dnp.logaddexp(log_ndtr(-b), lax.log1p(-q) + mass)
    z = inverse_log_ndtr(dnp.where(low < high, low, high))
    return dnp.clip(dnp.where(low < high, z, -z), a, b)


_truncnorm = Continuous(
    truncnorm, low=lambda a, b: a, high=lambda a, b: b, valid=lambda a, b: a < b
)
logpdf, pdf = _truncnorm.densities(_log_density)
cdf = _truncnorm.cdf(lambda z, a, b: lax.exp(_log_mass(a, z) - _log_mass(a, b)))
logcdf = _truncnorm.logcdf(lambda z, a, b: _log_part(_log_mass(a, z), _log_mass(z, b), a, b))
sf = _truncnorm.sf(lambda z, a, b: lax.exp(_log_mass(z, b) - _log_mass(a, b)))
logsf = _truncnorm.logsf(lambda z, a, b: _log_part(_log_mass(z, b), _log_mass(a, z), a, b))
ppf = _truncnorm.quantiles(_quantiles).ppf(_inverse)
isf = _truncnorm.quantiles(_quantiles).isf(lambda q, a, b: -_inverse(q, -b, -a))
