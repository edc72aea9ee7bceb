"""Differentiation of special functions, and of the derivatives of elementwise functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive

from ...primitives.arithmetic import add_p, mul_p, neg_p
from ...primitives.numerical import (
    igamma_grad_a_p,
    igamma_p,
    igammac_p,
    polygamma_p,
    regularized_incomplete_beta_p,
    zeta_p,
)
from ...primitives.slopes import (
    acosh_slope_p,
    asin_slope_p,
    asinh_slope_p,
    atan_slope_p,
    atanh_slope_p,
    erf_inv_slope_p,
    erf_slope_p,
    logistic_slope_p,
    normal_density_p,
    precise_erf_inv_p,
    scaled_bessel_slope_p,
    tanh_slope_p,
    tetragamma_p,
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
from ...primitives.transcendental import tanh_p
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


def _product(t: Any, *factors: Any) -> Any:
    """``t`` times the product of the factors, the first ones first."""
    return mul_p.bind(t, reduce(mul_p.bind, factors))


def _times(factor: float, x: Any, out: Any) -> Any:
    return mul_p.bind(x, scalar(factor, out.dtype))


def _logistic_slope(t: Any, out: Any, x: Any) -> Any:
    return _product(t, neg_p.bind(tanh_p.bind(_times(0.5, x, out))), out)


unary(logistic_slope_p, _logistic_slope)
unary(tanh_slope_p, lambda t, out, x: _product(t, _times(-2.0, tanh_p.bind(x), out), out))
unary(asin_slope_p, lambda t, out, x: _product(t, mul_p.bind(x, out), out, out))
unary(atan_slope_p, lambda t, out, x: _product(t, _times(-2.0, mul_p.bind(x, out), out), out))
unary(asinh_slope_p, lambda t, out, x: _product(t, neg_p.bind(mul_p.bind(x, out)), out, out))
unary(acosh_slope_p, lambda t, out, x: _product(t, neg_p.bind(mul_p.bind(x, out)), out, out))
unary(atanh_slope_p, lambda t, out, x: _product(t, _times(2.0, mul_p.bind(x, out), out), out))
unary(erf_slope_p, lambda t, out, x: _product(t, _times(-2.0, x, out), out))
unary(normal_density_p, lambda t, out, x: _product(t, neg_p.bind(x), out))
unary(precise_erf_inv_p, lambda t, out, y: mul_p.bind(t, erf_inv_slope_p.bind(y)))
unary(
    erf_inv_slope_p,
    lambda t, out, y: _product(t, _times(2.0, precise_erf_inv_p.bind(y), out), out, out),
)
unary(trigamma_p, lambda t, out, x: mul_p.bind(t, tetragamma_p.bind(x)))


@jvp_rules.register(scaled_bessel_slope_p)
def _scaled_bessel_slope(
    primals: Sequence[Any], tangents: Sequence[Any], *, n: int, order: int
) -> Any:
    out, slope = (scaled_bessel_slope_p.bind(primals[0], n=n, order=k) for k in (order, order + 1))
    return out, mul_p.bind(tangents[0], slope)
