"""The beta function and its logarithm.

With p <= q: for q < 8 B(p, q) is a quotient of gamma functions; for p < 8 <= q the quotient
Γ(q)/Γ(p + q) is q^-p times a number of order 1, which is computed from what Stirling's formula
leaves; for p >= 8 both are, as in TOMS 708 (DiDonato and Morris, 1992).
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from ..evaluation import Array, ArrayLike, differentiable, evaluate
from ..series import is_single, log1p, log1pmx, lost_in_sum, residual
from .gamma_functions import gamma_kernel, gammaln_kernel, stirling_rest
from .hurwitz import digamma_kernel

_LARGE = 8.0


def log_quotient(p: Any, q: Any) -> Any:
    """``log(q^p Γ(q)/Γ(p + q))`` for q >= 8, small for p < 8."""
    h = p / q
    return stirling_rest(q) - stirling_rest(p + q) - (q * log1pmx(h) + (p - 0.5) * log1p(h))


def _share(p: Any, q: Any) -> Any:
    """``(p/(p + q))^p``, without the error of the rounded base, which the power magnifies."""
    total = p + q
    base = p / total
    rest = residual(p, total, base) - base * lost_in_sum(p, q, total)
    return lax.pow(base, p) * (1.0 + rest)


def _inverse_rise(p: Any, q: Any) -> Any:
    """Γ(q)/Γ(p + q), without the error of the rounded sum."""
    total = p + q
    lost = lost_in_sum(p, q, total) * lax.log(lax.max(total, lax.full_like(p, 1.0)))
    return gamma_kernel(q) * (1.0 - lost) / gamma_kernel(total)


def quotient(p: Any, q: Any) -> Any:
    """Γ(p) Γ(q)/Γ(p + q) of numbers below 8, or of which p is negative."""
    return gamma_kernel(p) * _inverse_rise(p, q)


def _parted(a: Any, b: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The lesser and the greater argument; a mask where quotients are used; both at least 8."""
    p, q = lax.min(a, b), lax.max(a, b)
    most = 34.0 if is_single(a) else 170.0
    near = dnp.logical_or(q < _LARGE, dnp.logical_and(p < 0, q < most))
    least = lax.full_like(p, _LARGE)
    return p, q, near, lax.max(p, least), lax.max(q, least)


def _reflected(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """A sign, and arguments at which the function is the same up to it.
    B(-n, m) of whole numbers n >= m > 0 is (-1)^m B(n - m + 1, m): there the poles of Γ(-n) and of
    Γ(m - n) cancel.
    """
    p, q = lax.min(a, b), lax.max(a, b)
    integral = dnp.logical_and(lax.floor(p) == p, lax.floor(q) == q)
    cancels = dnp.logical_and(integral, dnp.logical_and(q > 0, p + q <= 0))
    cancels = dnp.logical_and(cancels, p > -np.inf)
    odd = dnp.logical_and(cancels, q - 2.0 * lax.floor(q * 0.5) == 1)
    return dnp.where(odd, -1.0, 1.0), dnp.where(cancels, 1.0 - p - q, p), q


def _at_ends(a: Any, b: Any) -> tuple[Any, Any]:
    """Masks where B is neither at a pole nor 0, and where it is at a pole."""
    p, q = lax.min(a, b), lax.max(a, b)
    total = p + q
    pole = dnp.logical_and(p <= 0, dnp.logical_and(lax.floor(p) == p, p > -np.inf))
    pole = dnp.logical_or(pole, dnp.logical_and(q == 0, p > -np.inf))
    vanishes = dnp.logical_and(total <= 0, dnp.logical_and(lax.floor(total) == total, p > -np.inf))
    vanishes = dnp.logical_or(vanishes, dnp.logical_and(q == np.inf, p > 0))
    pole = dnp.logical_or(pole, dnp.logical_and(q == np.inf, dnp.logical_and(p < 0, p > -np.inf)))
    vanishes = dnp.logical_and(vanishes, dnp.logical_not(pole))
    usual = dnp.logical_not(dnp.logical_or(pole, vanishes))
    return usual, pole


def _beta_da(out: Any, a: Any, b: Any) -> Any:
    return out * (digamma_kernel(a) - digamma_kernel(a + b))


@differentiable(_beta_da, lambda out, a, b: _beta_da(out, b, a))
def beta_kernel(a: Any, b: Any) -> Any:
    """B(a, b)."""
    sign, a, b = _reflected(a, b)
    usual, pole = _at_ends(a, b)
    value = sign * _beta(dnp.where(usual, a, 1.0), dnp.where(usual, b, 1.0))
    return dnp.where(usual, value, dnp.where(pole, np.inf, 0.0))


def _beta(a: Any, b: Any) -> Any:
    p, q, near, big, high = _parted(a, b)
    middle = dnp.logical_and(p < _LARGE, dnp.logical_not(near))
    low = dnp.where(middle, p, 1.0)
    small = gamma_kernel(dnp.where(near, p, low))
    rise = _inverse_rise(dnp.where(near, p, 1.0), dnp.where(near, q, 1.0))
    rest = lax.pow(high, -low) * lax.exp(log_quotient(low, high))
    tail = stirling_rest(big) + stirling_rest(high) - stirling_rest(big + high)
    root = lax.sqrt((1.0 / big + 1.0 / high) * (2 * pi))
    far = root * lax.exp(tail) * _share(big, high) * _share(high, big)
    return dnp.where(near, small * rise, dnp.where(middle, small * rest, far))


def _betaln_da(out: Any, a: Any, b: Any) -> Any:
    return digamma_kernel(a) - digamma_kernel(a + b)


@differentiable(_betaln_da, lambda out, a, b: _betaln_da(out, b, a))
def betaln_kernel(a: Any, b: Any) -> Any:
    """log |B(a, b)|."""
    _, a, b = _reflected(a, b)
    usual, pole = _at_ends(a, b)
    value = _betaln(dnp.where(usual, a, 1.0), dnp.where(usual, b, 1.0))
    return dnp.where(usual, value, dnp.where(pole, np.inf, -np.inf))


def _betaln(a: Any, b: Any) -> Any:
    p, q, near, big, high = _parted(a, b)
    tiny = dnp.logical_and(lax.abs(p) < 1e-30, near)  # of which the gamma function overflows
    usual = dnp.logical_and(near, dnp.logical_not(tiny))
    product = quotient(dnp.where(usual, p, 1.0), dnp.where(usual, q, 1.0))
    small = dnp.where(tiny, -lax.log(lax.abs(p)), lax.log(lax.abs(product)))
    low = dnp.where(p < _LARGE, p, 1.0)
    middle = gammaln_kernel(low) - low * lax.log(high) + log_quotient(low, high)
    h = big / high
    rest = stirling_rest(big) + stirling_rest(high) - stirling_rest(big + high)
    first = (big - 0.5) * (lax.log(h) - log1p(h))
    far = ((0.5 * log(2 * pi) - 0.5 * lax.log(high)) + rest) + first - high * log1p(h)
    return dnp.where(near, small, dnp.where(p < _LARGE, middle, far))


@fused()
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the beta function's absolute value."""
    return evaluate("betaln", betaln_kernel, a, b)


@fused()
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function ``gamma(a) * gamma(b) / gamma(a + b)``."""
    return evaluate("beta", beta_kernel, a, b)
