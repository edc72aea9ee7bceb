"""Differentiation of special functions."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive

from ...primitives.arithmetic import add_p, mul_p, neg_p
from ...primitives.incomplete import (
    igamma_grad_a_p,
    igamma_p,
    igammac_p,
    regularized_incomplete_beta_p,
)
from ...primitives.slopes import (
    erf_inv_slope_p,
    erf_slope_p,
    scaled_bessel_slope_p,
    trigamma_p,
)
from ...primitives.special import (
    bessel_i0e_p,
    bessel_i1e_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    lgamma_p,
    positive_polygamma_p,
    positive_zeta_p,
)
from ...primitives.zeta import polygamma_p, zeta_p
from ...scalars import scalar
from .kinds import nary, unary

unary(erf_p, lambda t, out, x: mul_p.bind(t, erf_slope_p.bind(x)))
unary(erfc_p, lambda t, out, x: mul_p.bind(t, neg_p.bind(erf_slope_p.bind(x))))
unary(erf_inv_p, lambda t, out, x: mul_p.bind(t, erf_inv_slope_p.bind(x)))
unary(lgamma_p, lambda t, out, x: mul_p.bind(t, digamma_p.bind(x)))
unary(digamma_p, lambda t, out, x: mul_p.bind(t, trigamma_p.bind(x)))


def _no_derivative(function: str, operand: str) -> Any:
    def partial(t: Any, out: Any, *primals: Any) -> Any:
        raise NotImplementedError(
            f"lax.{function} has no derivative in its operand {operand!r}. If that operand is "
            "constant, pass it through lax.stop_gradient."
        )

    return partial


def _polygamma(primitive: Primitive) -> None:
    def of_x(t: Any, out: Any, m: Any, x: Any) -> Any:
        return mul_p.bind(t, primitive.bind(add_p.bind(m, scalar(1.0, out.dtype)), x))

    nary(primitive, _no_derivative("polygamma", "m"), of_x)


def _zeta(primitive: Primitive) -> None:
    # ζ(x, q) = Σ (n + q)^-x.
    def of_q(t: Any, out: Any, x: Any, q: Any) -> Any:
        higher = primitive.bind(add_p.bind(x, scalar(1.0, out.dtype)), q)
        return mul_p.bind(t, mul_p.bind(neg_p.bind(x), higher))

    nary(primitive, _no_derivative("zeta", "x"), of_q)


_polygamma(polygamma_p)
_polygamma(positive_polygamma_p)
_zeta(zeta_p)
_zeta(positive_zeta_p)


def _scaled_bessel(primitive: Primitive, n: int) -> None:
    unary(primitive, lambda t, out, x: mul_p.bind(t, scaled_bessel_slope_p.bind(x, n=n, order=1)))


_scaled_bessel(bessel_i0e_p, 0)
_scaled_bessel(bessel_i1e_p, 1)


def _gamma_density(out: Any, a: Any, x: Any) -> Any:
    from ...numerics.gamma import density

    return density(a, x)


nary(
    igamma_p,
    lambda t, out, a, x: mul_p.bind(t, igamma_grad_a_p.bind(a, x)),
    lambda t, out, a, x: mul_p.bind(t, _gamma_density(out, a, x)),
)
nary(
    igammac_p,
    lambda t, out, a, x: mul_p.bind(t, neg_p.bind(igamma_grad_a_p.bind(a, x))),
    lambda t, out, a, x: mul_p.bind(t, neg_p.bind(_gamma_density(out, a, x))),
)


def _betainc_x(t: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    from ...numerics.beta import density

    return mul_p.bind(t, density(a, b, x))


nary(
    regularized_incomplete_beta_p,
    _no_derivative("betainc", "a"),
    _no_derivative("betainc", "b"),
    _betainc_x,
)
