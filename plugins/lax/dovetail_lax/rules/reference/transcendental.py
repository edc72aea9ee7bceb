"""Exponentials, logarithms, trigonometric and special functions by NumPy and SciPy."""

from __future__ import annotations

import numpy as np

from dovetail_backends import Effort

from ...primitives import numerical, special as s, transcendental as t
from .kinds import Array, Late, wide

special = Late("scipy.special")
of_scipy = Effort(module="scipy.special")


def _log1p(x: Array) -> Array:
    return np.log1p(x) if x.dtype.kind == "f" else special.log1p(x)


def _logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))  # not SciPy's: it takes longer to import than a network to run


def _atan2(x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        return np.arctan2(x, y)
    return -1j * np.log((y + 1j * x) / np.sqrt(x * x + y * y))


wide(t.exp_p, np.exp)
wide(t.exp2_p, np.exp2)
wide(t.expm1_p, np.expm1)
wide(t.log_p, np.log)
wide(t.log1p_p, _log1p)
wide(t.logistic_p, _logistic)
wide(t.sin_p, np.sin)
wide(t.cos_p, np.cos)
wide(t.tan_p, np.tan)
wide(t.asin_p, np.arcsin)
wide(t.acos_p, np.arccos)
wide(t.atan_p, np.arctan)
wide(t.atan2_p, _atan2)
wide(t.sinh_p, np.sinh)
wide(t.cosh_p, np.cosh)
wide(t.tanh_p, np.tanh)
wide(t.asinh_p, np.arcsinh)
wide(t.acosh_p, np.arccosh)
wide(t.atanh_p, np.arctanh)


def _polygamma(m: Array, x: Array) -> Array:
    # SciPy's takes integer orders only; the Hurwitz zeta function is defined between them.
    sign = np.where(m % 2 == 0, -1.0, 1.0)
    higher = sign * special.gamma(m + 1) * special.zeta(m + 1, x)
    return np.where(m == 0, special.digamma(x), higher)


def _igamma_grad_a(a: Array, x: Array) -> Array:
    """The derivative by five-point differences, which is exact to about ten digits."""
    h = 1e-3 * a
    f = special.gammainc
    near, far = f(a + h, x) - f(a - h, x), f(a + 2 * h, x) - f(a - 2 * h, x)
    return (8 * near - far) / (12 * h)


def _random_gamma_grad(a: Array, x: Array) -> Array:
    # Of F(a, x(a)) = const it follows that dx/da = -(∂F/∂a) / (∂F/∂x).
    density = np.exp((a - 1) * np.log(x) - x - special.gammaln(a))
    return -_igamma_grad_a(a, x) / density


wide(s.erf_p, special.erf, of_scipy)
wide(s.erfc_p, special.erfc, of_scipy)
wide(s.erf_inv_p, special.erfinv, of_scipy)
wide(s.lgamma_p, special.gammaln, of_scipy)
wide(s.digamma_p, special.digamma, of_scipy)
wide(s.positive_polygamma_p, _polygamma, of_scipy)
wide(s.positive_zeta_p, special.zeta, of_scipy)
wide(s.bessel_i0e_p, special.i0e, of_scipy)
wide(s.bessel_i1e_p, special.i1e, of_scipy)
wide(numerical.igamma_p, special.gammainc, of_scipy)
wide(numerical.igammac_p, special.gammaincc, of_scipy)
wide(numerical.igamma_grad_a_p, _igamma_grad_a, of_scipy)
wide(numerical.random_gamma_grad_p, _random_gamma_grad, of_scipy)
wide(numerical.regularized_incomplete_beta_p, special.betainc, of_scipy)
