"""The von Mises distribution: of angles."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import i0e
from ..special.series import is_single
from .families import Arguments, Continuous, log_probability

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def vonmises(x: ArrayLike, kappa: ArrayLike) -> Arguments:
    """the von Mises distribution of concentration ``kappa``"""
    return Arguments(x, (kappa,))


def _log_density(z: Any, kappa: Any) -> Any:
    sine = lax.sin(0.5 * z)
    return -2.0 * kappa * sine * sine - lax.log(2 * pi * i0e(kappa))


def _tail(angle: Any, kappa: Any) -> tuple[Any, Any]:
    """The probability between -pi and an angle up to 0: two factors, the logarithm of the first.

    It is computed by Gauss-Legendre quadrature over the part of the density that is not negligible:
    at its farther end it is exp(-40) of the greatest value. All terms are positive, so that small
    tails are accurate.
    """
    nodes, weights = np.polynomial.legendre.leggauss(28 if is_single(angle) else 48)
    sine = lax.sin(0.5 * angle)
    depth = (10.0 if is_single(angle) else 20.0) / dnp.where(kappa < 1.0, 1.0, kappa)
    square = lax.min(sine * sine + depth, lax.full_like(sine, 1.0))
    # Where the quadrature begins makes no difference: it has no derivative.
    start = -2.0 * lax.asin(lax.sqrt(lax.stop_gradient(square)))
    half = 0.5 * (angle - start)
    x = start[..., None] + half[..., None] * (1.0 + nodes.astype(angle.dtype))
    sines = lax.sin(0.5 * x)
    fall = (sines - sine[..., None]) * (sines + sine[..., None])
    values = lax.exp(-2.0 * kappa[..., None] * fall) * weights.astype(angle.dtype)
    return -2.0 * kappa * sine * sine, half * dnp.sum(values, -1) / (2 * pi * i0e(kappa))


def _sides(z: Any, kappa: Any) -> tuple[Any, Any, Any]:
    """The probabilities below and above an angle, and the logarithm of the former.

    Beyond pi and -pi they continue by one per turn.
    """
    turns = lax.round(z / (2 * pi))
    angle = z - turns * (2 * pi)
    right = angle > 0
    exponent, factor = _tail(dnp.where(right, -angle, angle), kappa)
    tail = lax.exp(exponent) * factor
    below, above = (dnp.where(right, u, v) for u, v in ((1.0 - tail, tail), (tail, 1.0 - tail)))
    first = dnp.logical_and(turns == 0, dnp.logical_not(right))
    log_below = exponent + lax.log(factor)
    log_below = dnp.where(first, log_below, log_probability(below + turns, above - turns))
    return below + turns, above - turns, log_below


_vonmises = Continuous(vonmises, valid=lambda kappa: kappa >= 0)
logpdf, pdf = _vonmises.densities(_log_density)
cdf = _vonmises.cdf(lambda z, kappa: _sides(z, kappa)[0])
logcdf = _vonmises.logcdf(lambda z, kappa: _sides(z, kappa)[2])
sf = _vonmises.sf(lambda z, kappa: _sides(z, kappa)[1])
logsf = _vonmises.logsf(lambda z, kappa: _sides(-z, kappa)[2])
