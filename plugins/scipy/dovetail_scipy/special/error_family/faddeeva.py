"""The function of Faddeeva, and the scaled complementary error function of complex numbers.

In the first quadrant w(z) = exp(-z²) erfc(-iz) is the trapezoidal or the midpoint rule for its
integral, with the residues of its poles, by Al Azah and Chandler-Wilde (2021): a fixed number of
terms has the full accuracy everywhere. Other quadrants follow by symmetry.
"""

from __future__ import annotations

from math import exp, pi, sqrt
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from ..evaluation import Array, ArrayLike, differentiable, evaluate, slope_of
from ..integrals import dawson_kernel
from ..series import is_single
from .error_functions import erfcx_kernel, gauss

_SLOPE = 2 / sqrt(pi)


def _fraction(z: Any) -> Any:
    """w(z) for large |z| in the upper half plane by Laplace's continued fraction, DLMF 7.9.3."""
    value = z
    for k in reversed(range(1, 14)):
        value = z - (0.5 * k) / value
    return lax.complex(z.real * 0.0, z.real * 0.0 + 1 / sqrt(pi)) / value


def _rules(z: Any) -> Any:
    """w(z) for Re z >= 0 and Im z >= 0, |z| not huge."""
    n = 5 if is_single(z.real) else 11
    h = sqrt(pi / (n + 1))
    square = z * z
    middle, trapezoid = 0.0, 0.0
    for k in range(n + 1):
        t, tau = (k + 0.5) * h, (k + 1) * h
        middle = middle + exp(-t * t) / (square - t * t)
        if k < n:
            trapezoid = trapezoid + exp(-tau * tau) / (square - tau * tau)
    factor = z * (2j * h / pi)
    x, y = z.real, z.imag
    low = y < pi / h
    inside = dnp.where(low, z, 1.0 + 1j)
    u = lax.exp(inside * (-2j * pi / h))
    decay = lax.exp(lax.complex((y - x) * (y + x), -2.0 * x * y))
    decay = dnp.where(low, 2.0 * decay, 0.0)
    phase = x / h - lax.floor(x / h)
    # The rule whose nodes are farther away: near a node its pole and the residue would cancel.
    central = dnp.logical_and(phase >= 0.25, phase <= 0.75)
    by_middle = dnp.logical_not(dnp.logical_and(y < x, central))
    sign = dnp.where(by_middle, 1.0, -1.0)
    pole = decay / (1.0 + sign * u)
    rule = dnp.where(by_middle, factor * middle, factor * trapezoid + (1j * h / pi) / z)
    return pole + rule


@differentiable(lambda out, z: _slope(out, z))
def wofz_kernel(z: Any) -> Any:
    """w(z) of complex arrays."""
    x, y = lax.abs(z.real), lax.abs(z.imag)
    size = lax.max(x, y)
    huge, zero = size > 1e4, size == 0
    quadrant = lax.complex(x, y)
    safe = dnp.where(dnp.logical_or(huge, zero), 1.0 + 1j, quadrant)
    value = dnp.where(zero, 1.0, _rules(safe))
    value = dnp.where(huge, _fraction(dnp.where(huge, quadrant, 1e5)), value)
    value = dnp.where(z.real < 0, lax.conj(value), value)
    # w(z) = 2 exp(-z²) - w(-z) in the lower half plane; there value is w at the conjugate of z.
    below = z.imag < 0
    growth = 2.0 * lax.exp(lax.complex((y - x) * (y + x), -2.0 * z.real * z.imag))
    return dnp.where(below, dnp.where(below, growth, 0.0) - lax.conj(value), value)


def _slope(out: Any, z: Any) -> Any:
    """-2 z w + 2i/sqrt(π), where it cancels from the continued fraction."""
    far = dnp.logical_and(z.imag >= 0, lax.abs(z) > 8.0)
    series = slope_of(_fraction, dnp.where(far, z, 10.0))
    return dnp.where(far, series, _SLOPE * 1j - 2.0 * z * out)


@fused()
def wofz(z: ArrayLike) -> Array:
    """The function of Faddeeva, ``exp(-z**2) * erfc(-1j * z)``, of real or complex numbers.

    Returns: complex numbers, also for real ``z``.
    """

    def kernel(z: Any) -> Any:
        if z.dtype.kind == "c":
            return wofz_kernel(z)
        return lax.complex(gauss(z), _SLOPE * dawson_kernel(z))

    return evaluate("wofz", kernel, z, complex=True)


@fused()
def erfcx(x: ArrayLike) -> Array:
    """The scaled complementary error function ``exp(x**2) * erfc(x)``, real or complex."""

    def kernel(x: Any) -> Any:
        if x.dtype.kind == "c":
            return wofz_kernel(lax.complex(-x.imag, x.real))
        return erfcx_kernel(x)

    return evaluate("erfcx", kernel, x, complex=True)
