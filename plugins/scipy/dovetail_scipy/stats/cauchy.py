"""The Cauchy distribution: of the quotient of two normal numbers."""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from .families import Arguments, Continuous, log_probability

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def cauchy(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the Cauchy distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return cauchy(q, loc, scale)


def _log_density(z: Any) -> Any:
    far = lax.abs(z) > 1
    near, inverse = dnp.where(far, 0.0, z), 1.0 / dnp.where(far, z, 1.0)
    square = dnp.where(far, inverse * inverse, near * near)
    return 2.0 * lax.log(lax.abs(inverse)) - lax.log1p(square) - log(pi)


def _below(z: Any) -> Any:
    """``pi`` times the probability, accurately in both tails."""
    return lax.atan2(lax.full_like(z, 1.0), -z)


def _cotangent(q: Any) -> Any:
    """The cotangent of ``pi * q``, from the nearer end."""
    upper = q > 0.5
    value = 1.0 / lax.tan(pi * dnp.where(upper, 1.0 - q, q))
    return dnp.where(q == 0.5, 0.0 * q, dnp.where(upper, -value, value))


_cauchy = Continuous(cauchy)
logpdf, pdf = _cauchy.densities(_log_density)
cdf = _cauchy.cdf(lambda z: _below(z) / pi)
logcdf = _cauchy.logcdf(lambda z: log_probability(_below(z) / pi, _below(-z) / pi))
sf = _cauchy.sf(lambda z: _below(-z) / pi)
logsf = _cauchy.logsf(lambda z: log_probability(_below(-z) / pi, _below(z) / pi))
ppf = _cauchy.quantiles(_quantiles).ppf(lambda q: -_cotangent(q))
isf = _cauchy.quantiles(_quantiles).isf(_cotangent)
