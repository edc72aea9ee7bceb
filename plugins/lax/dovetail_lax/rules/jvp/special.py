"""Differentiation of special functions."""

from __future__ import annotations

from typing import Any

from ...primitives.arithmetic import add_p, div_p, mul_p, neg_p, sign_p, sub_p
from ...primitives.discrete import eq_p
from ...primitives.incomplete import (
    igamma_grad_a_p,
    igamma_p,
    igammac_p,
    regularized_incomplete_beta_p,
)
from ...primitives.slopes import erf_inv_slope_p, erf_slope_p, trigamma_p
from ...primitives.special import (
    bessel_i0e_p,
    bessel_i1e_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    lgamma_p,
    polygamma_p,
    zeta_p,
)
from ...primitives.values import select_n_p
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


def _polygamma_x(t: Any, out: Any, m: Any, x: Any) -> Any:
    return mul_p.bind(t, polygamma_p.bind(add_p.bind(m, scalar(1.0, out.dtype)), x))


def _zeta_q(t: Any, out: Any, x: Any, q: Any) -> Any:
    # ζ(x, q) = Σ (n + q)^-x.
    higher = zeta_p.bind(add_p.bind(x, scalar(1.0, out.dtype)), q)
    return mul_p.bind(t, mul_p.bind(neg_p.bind(x), higher))


nary(polygamma_p, _no_derivative("polygamma", "m"), _polygamma_x)
nary(zeta_p, _no_derivative("zeta", "x"), _zeta_q)


def _bessel_i0e(t: Any, out: Any, x: Any) -> Any:
    # I0' = I1, and exp(-|x|) contributes -sign(x).
    return mul_p.bind(t, sub_p.bind(bessel_i1e_p.bind(x), mul_p.bind(sign_p.bind(x), out)))


def _bessel_i1e(t: Any, out: Any, x: Any) -> Any:
    # I1' = I0 - I1/x, which is 1/2 at 0.
    dtype = out.dtype
    at_zero = eq_p.bind(x, scalar(0.0, dtype))
    safe = select_n_p.bind(at_zero, x, scalar(1.0, dtype))
    factor = add_p.bind(sign_p.bind(x), div_p.bind(scalar(1.0, dtype), safe))
    slope = sub_p.bind(bessel_i0e_p.bind(x), mul_p.bind(out, factor))
    return mul_p.bind(t, select_n_p.bind(at_zero, slope, scalar(0.5, dtype)))


unary(bessel_i0e_p, _bessel_i0e)
unary(bessel_i1e_p, _bessel_i1e)


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
