"""The logarithm of the gamma function in the complex plane, and the gamma function there.

Near 1 and 2, where it has zeros, it is computed by Taylor series; for |z| > 7 by Stirling's series,
which is reached from numbers with positive real part by recurrence, and from others by reflection.
The branch is determined as by Hare (1997).
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from ..coefficients import LOG_GAMMA_TAYLOR
from ..evaluation import Array, ArrayLike, evaluate
from ..series import horner, is_single
from .gamma_functions import gamma_kernel, gammaln_kernel, sin_pi

_LOG_PI = log(pi)
# B(2k)/(2k (2k - 1)), DLMF 5.11.1.
_STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400,
    43867 / 244188, -174611 / 125400,
)  # fmt: skip


def _stirling(z: Any) -> Any:
    inverse = 1.0 / z
    terms = _STIRLING[:5] if is_single(z.real) else _STIRLING
    rest = inverse * horner(inverse * inverse, terms)
    return (z - 0.5) * lax.log(z) - z + 0.5 * log(2 * pi) + rest


def _taylor(z: Any) -> Any:
    """log Γ(z) next to 1 and 2."""
    first = z.real < 1.5
    u = z - dnp.where(first, 1.0, 2.0)
    terms = LOG_GAMMA_TAYLOR[: 16 if is_single(z.real) else len(LOG_GAMMA_TAYLOR)]
    series = u * horner(u, terms)
    return series - dnp.where(first, lax.log1p(u), 0.0)


def _shifted(z: Any) -> Any:
    """log Γ(z) for 0 <= Re z < 8 and Im z >= 0, from Stirling's series at z + 8."""
    product, turns = z, lax.full_like(z.real, 0.0)
    for k in range(1, 8):
        before = product.imag >= 0
        product = product * (z + float(k))
        flipped = dnp.logical_and(before, product.imag < 0)
        turns = turns + dnp.where(flipped, 1.0, 0.0)
    return _stirling(z + 8.0) - lax.log(product) - lax.complex(turns * 0.0, turns * (2 * pi))


def _log_sin_pi(z: Any) -> Any:
    """log(sin πz) for |Im z| < 8."""
    angle, height = z.real, z.imag * pi
    cosine = sin_pi(angle + 0.5)
    return lax.log(lax.complex(sin_pi(angle) * lax.cosh(height), cosine * lax.sinh(height)))


def log_gamma(z: Any) -> Any:
    """The principal branch of log Γ for complex arrays."""
    below = z.imag < 0
    z = lax.complex(z.real, lax.abs(z.imag))
    mirrored = dnp.logical_and(z.real < 0.1, z.imag < 7.0)
    w = dnp.where(mirrored, 1.0 - z, z)
    large = dnp.logical_or(w.real > 7.0, lax.abs(w.imag) >= 7.0)
    upper = dnp.where(w.imag < 0, lax.conj(w), w)
    far = _stirling(dnp.where(large, upper, 9.0 + 0.0 * 1j))
    near = _shifted(dnp.where(large, 1.0 + 1j, upper))
    value = dnp.where(large, far, near)
    close = dnp.where(w.real < 1.5, lax.abs(w - 1.0), lax.abs(w - 2.0)) < 0.6
    value = dnp.where(close, _taylor(dnp.where(close, upper, 2.0)), value)
    value = dnp.where(w.imag < 0, lax.conj(value), value)
    safe = dnp.where(mirrored, z, 0.25)
    branch = 2 * pi * lax.floor(0.5 * safe.real + 0.25)
    reflected = lax.complex(lax.full_like(branch, _LOG_PI), branch) - _log_sin_pi(safe) - value
    value = dnp.where(mirrored, reflected, value)
    pole = dnp.logical_and(z.imag == 0, dnp.logical_and(z.real <= 0, lax.floor(z.real) == z.real))
    value = dnp.where(pole, np.nan * (1 + 1j), value)
    return dnp.where(below, lax.conj(value), value)


def complex_gamma(z: Any) -> Any:
    """Γ for complex arrays."""
    return lax.exp(log_gamma(z))


@fused()
def loggamma(x: ArrayLike) -> Array:
    """The principal branch of the logarithm of the gamma function, real or complex.

    For real ``x < 0`` it is NaN, as the values are not real; pass complex numbers for them. Its
    only branch cut is along the negative real axis.
    """

    def kernel(x: Any) -> Any:
        if x.dtype.kind == "c":
            return log_gamma(x)
        return dnp.where(x < 0, np.nan, gammaln_kernel(x))

    return evaluate("loggamma", kernel, x, complex=True)


@fused()
def gamma(x: ArrayLike) -> Array:
    """The gamma function, real or complex.

    Of real numbers it is NaN at negative integers and minus infinity, and infinite, with the sign
    of ``x``, at 0; of complex numbers it is NaN at all poles.
    """

    def kernel(x: Any) -> Any:
        return complex_gamma(x) if x.dtype.kind == "c" else gamma_kernel(x)

    return evaluate("gamma", kernel, x, complex=True)
