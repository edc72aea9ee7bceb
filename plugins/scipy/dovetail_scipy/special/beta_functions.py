"""The beta function and its logarithm.

With p <= q: for q < 8 B(p, q) is a quotient of gamma functions; for p < 8 <= q the quotient
Γ(q)/Γ(p + q) is q^-p times a number of order 1, which is computed from what Stirling's formula leaves;
for p >= 8 everything is, as in TOMS 708 (DiDonato and Morris, 1992).
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, differentiable, evaluate
from .gamma_functions import gamma_kernel, gamma_sign, gammaln_kernel, stirling_rest
from .hurwitz import digamma_kernel
from .logarithms import log1p, log1pmx
from .rounding import lost_in_sum, residual

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


def _quotient(p: Any, q: Any) -> Any:
    """Γ(p) Γ(q)/Γ(p + q), without the error of the rounded sum."""
    total = p + q
    lost = lost_in_sum(p, q, total) * lax.log(lax.max(total, lax.full_like(p, 1.0)))
    return gamma_kernel(p) * gamma_kernel(q) * (1.0 - lost) / gamma_kernel(total)


def _sorted(a: Any, b: Any) -> tuple[Any, Any]:
    return lax.min(a, b), lax.max(a, b)


def _three(p: Any, q: Any, near: Any, middle: Any, far: Any) -> Any:
    return dnp.where(q < _LARGE, near, dnp.where(p < _LARGE, middle, far))


def _beta_da(out: Any, a: Any, b: Any) -> Any:
    return out * (digamma_kernel(a) - digamma_kernel(a + b))


@differentiable(_beta_da, lambda out, a, b: _beta_da(out, b, a))
def beta_kernel(a: Any, b: Any) -> Any:
    """B(a, b)."""
    p, q = _sorted(a, b)
    one = lax.full_like(p, 1.0)
    near = _quotient(p, lax.min(q, one * _LARGE))
    low, high = lax.min(p, one * _LARGE), lax.max(q, one * _LARGE)
    middle = gamma_kernel(low) * (lax.pow(high, -low) * lax.exp(log_quotient(low, high)))
    big = lax.max(p, one * _LARGE)
    rest = stirling_rest(big) + stirling_rest(high) - stirling_rest(big + high)
    root = lax.sqrt((1.0 / big + 1.0 / high) * (2 * pi))
    far = root * lax.exp(rest) * _share(big, high) * _share(high, big)
    value = _three(p, q, near, middle, far)
    signs = gamma_sign(p) * gamma_sign(q) * gamma_sign(p + q)
    negative = signs * lax.exp(_by_logarithms(p, q))
    return dnp.where(dnp.logical_and(p < 0, q >= _LARGE), negative, value)


def _by_logarithms(p: Any, q: Any) -> Any:
    """log |B(p, q)| for p < 0."""
    return gammaln_kernel(p) + (gammaln_kernel(q) - gammaln_kernel(p + q))


def _betaln_da(out: Any, a: Any, b: Any) -> Any:
    return digamma_kernel(a) - digamma_kernel(a + b)


@differentiable(_betaln_da, lambda out, a, b: _betaln_da(out, b, a))
def betaln_kernel(a: Any, b: Any) -> Any:
    """log |B(a, b)|."""
    p, q = _sorted(a, b)
    one = lax.full_like(p, 1.0)
    low, high = lax.clamp(0.0, p, _LARGE), lax.max(q, one * _LARGE)
    small = lax.min(q, one * _LARGE)
    product = _quotient(low, small)
    tiny = low < 1e-30  # of which the gamma function overflows
    near = dnp.where(tiny, -lax.log(low), lax.log(dnp.where(tiny, 1.0, product)))
    middle = gammaln_kernel(low) - low * lax.log(high) + log_quotient(low, high)
    big = lax.max(p, one * _LARGE)
    h = big / high
    rest = stirling_rest(big) + stirling_rest(high) - stirling_rest(big + high)
    first = (big - 0.5) * (lax.log(h) - log1p(h))
    far = ((0.5 * log(2 * pi) - 0.5 * lax.log(high)) + rest) + first - high * log1p(h)
    return dnp.where(p < 0, _by_logarithms(p, q), _three(p, q, near, middle, far))


@fused()
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the beta function's absolute value."""
    return evaluate("betaln", betaln_kernel, a, b)


@fused()
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function ``gamma(a) * gamma(b) / gamma(a + b)``."""
    return evaluate("beta", beta_kernel, a, b)


