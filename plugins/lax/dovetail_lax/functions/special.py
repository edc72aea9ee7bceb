"""Special functions, elementwise, for floating-point operands of one type."""

from __future__ import annotations

from ..primitives.numerical import (
    igamma_grad_a_p,
    igamma_p,
    igammac_p,
    polygamma_p,
    random_gamma_grad_p,
    regularized_incomplete_beta_p,
    zeta_p,
)
from ..primitives.special import (
    bessel_i0e_p,
    bessel_i1e_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    lgamma_p,
)
from .operands import Array, ArrayLike, binary, nary, unary


def erf(x: ArrayLike) -> Array:
    """The error function, elementwise."""
    return unary(erf_p, x)


def erfc(x: ArrayLike) -> Array:
    """The complementary error function ``1 - erf(x)``, elementwise."""
    return unary(erfc_p, x)


def erf_inv(x: ArrayLike) -> Array:
    """The inverse of the error function, elementwise."""
    return unary(erf_inv_p, x)


def lgamma(x: ArrayLike) -> Array:
    """Logarithm of the absolute value of the gamma function, elementwise."""
    return unary(lgamma_p, x)


def digamma(x: ArrayLike) -> Array:
    """The derivative of ``lgamma``, elementwise."""
    return unary(digamma_p, x)


def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """The ``m``-th derivative of ``digamma`` at ``x``, elementwise."""
    return binary(polygamma_p, m, x)


def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """The Hurwitz zeta function, elementwise."""
    return binary(zeta_p, x, q)


def bessel_i0e(x: ArrayLike) -> Array:
    """``exp(-abs(x))`` times the modified Bessel function of order 0."""
    return unary(bessel_i0e_p, x)


def bessel_i1e(x: ArrayLike) -> Array:
    """``exp(-abs(x))`` times the modified Bessel function of order 1."""
    return unary(bessel_i1e_p, x)


def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised lower incomplete gamma function of ``a`` at ``x``."""
    return binary(igamma_p, a, x)


def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised upper incomplete gamma function: ``1 - igamma(a, x)``."""
    return binary(igammac_p, a, x)


def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of ``igamma`` in ``a``."""
    return binary(igamma_grad_a_p, a, x)


def random_gamma_grad(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative in ``a`` of a gamma-distributed sample ``x``."""
    return binary(random_gamma_grad_p, a, x)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularised incomplete beta function of ``a`` and ``b`` at ``x``, elementwise."""
    return nary(regularized_incomplete_beta_p, (a, b, x))
