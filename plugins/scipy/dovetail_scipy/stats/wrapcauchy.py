"""The wrapped Cauchy distribution: of angles from 0 to a full turn."""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax

from ..arguments import ArrayLike
from .families import Arguments, Continuous, log_probability

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def wrapcauchy(x: ArrayLike, c: ArrayLike) -> Arguments:
    """the wrapped Cauchy distribution with parameter ``c``"""
    return Arguments(x, (c,))


def _quantiles(q: ArrayLike, c: ArrayLike) -> Arguments:
    return wrapcauchy(q, c)


def _log_density(z: Any, c: Any) -> Any:
    sine, less = lax.sin(0.5 * z), 1.0 - c
    return lax.log1p(c) + lax.log(less / (less * less + 4.0 * c * sine * sine)) - log(2 * pi)


def _below(z: Any, c: Any) -> Any:
    half = 0.5 * z
    return lax.atan2((1.0 + c) * lax.sin(half), (1.0 - c) * lax.cos(half)) / pi


def _above(z: Any, c: Any) -> Any:
    half = 0.5 * z
    return lax.atan2((1.0 + c) * lax.sin(half), (c - 1.0) * lax.cos(half)) / pi


def _quantile(q: Any, c: Any, sign: float) -> Any:
    half = pi * q
    return 2.0 * lax.atan2((1.0 - c) * lax.sin(half), sign * (1.0 + c) * lax.cos(half))


_wrapcauchy = Continuous(wrapcauchy, low=0.0, high=2 * pi, valid=lambda c: (c > 0) & (c < 1))
logpdf, pdf = _wrapcauchy.densities(_log_density)
cdf = _wrapcauchy.cdf(_below)
logcdf = _wrapcauchy.logcdf(lambda z, c: log_probability(_below(z, c), _above(z, c)))
sf = _wrapcauchy.sf(_above)
logsf = _wrapcauchy.logsf(lambda z, c: log_probability(_above(z, c), _below(z, c)))
ppf = _wrapcauchy.quantiles(_quantiles).ppf(lambda q, c: _quantile(q, c, 1.0))
isf = _wrapcauchy.quantiles(_quantiles).isf(lambda q, c: _quantile(q, c, -1.0))
