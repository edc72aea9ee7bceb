"""Derivatives of elementwise functions that lose digits, or overflow, as an expression of results.

``1 - tanh(x)²`` is 0 where ``tanh(x)`` is rounded to 1, and the derivative of ``1/(1 + x²)`` by the
rule of quotients underflows on its way. Each primitive here is the derivative of a function, and
the rule of its own derivative is a product of few factors, in any order of which nothing overflows
or underflows but the result. Complex derivatives are those expressions of results.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

from dovetail_core import Primitive

from ..dtypes import finfo, kind_of
from ..scalars import scalar
from .arithmetic import (
    abs_p,
    add_p,
    div_p,
    min_p,
    mul_p,
    neg_p,
    rsqrt_p,
    sign_p,
    square_p,
    sub_p,
)
from .discrete import RoundingMethod, and_p, gt_p, round_p
from .elementwise import FLOATING, INEXACT, Kinds, elementwise
from .special import erf_inv_p, erfc_p, positive_zeta_p
from .traits import describe
from .transcendental import cos_p, exp_p, logistic_p, sin_p, tanh_p
from .values import select_n_p


def _slope(name: str, accepts: Kinds = INEXACT) -> Callable[[Callable[..., Any]], Primitive]:
    """Decorator: a primitive that is computed by the function."""

    def decorate(compute: Callable[..., Any]) -> Primitive:
        primitive = elementwise(Primitive(name), accepts)
        primitive.def_decomposition(compute)
        return primitive

    return decorate


def _one(x: Any) -> Any:
    return scalar(1.0, x.dtype)


@_slope("logistic_slope")
def logistic_slope_p(x: Any) -> Any:
    """``s(x) s(-x)`` of the logistic function ``s``.

    ``s(-x)`` is ``s(x) exp(-x)``: XLA computes that exponential for ``s(x)`` anyhow. Where it
    overflows, ``s(x)`` is zero.
    """
    s = logistic_p.bind(x)
    if kind_of(x.dtype) == "complex":
        return mul_p.bind(s, sub_p.bind(_one(x), s))
    most = scalar(float(finfo(x.dtype).max), x.dtype)
    return mul_p.bind(s, mul_p.bind(s, min_p.bind(exp_p.bind(neg_p.bind(x)), most)))


@_slope("tanh_slope")
def tanh_slope_p(x: Any) -> Any:
    """``1/cosh(x)²``, as ``4 e/(1 + e)²`` with ``e = exp(-2|x|)``.

    It costs an exponential more than ``1 - tanh(x)²``, of which nothing is left where ``tanh(x)``
    is rounded to 1, from 9 on in single precision; no expression of ``tanh(x)`` has what is lost.
    """
    if kind_of(x.dtype) == "complex":
        return sub_p.bind(_one(x), square_p.bind(tanh_p.bind(x)))
    e = exp_p.bind(mul_p.bind(abs_p.bind(x), scalar(-2.0, x.dtype)))
    below = square_p.bind(add_p.bind(e, _one(x)))
    return div_p.bind(mul_p.bind(e, scalar(4.0, x.dtype)), below)


def _one_minus_square(x: Any) -> Any:
    # (1 - x)(1 + x) loses less near 1 than 1 - x².
    return mul_p.bind(sub_p.bind(_one(x), x), add_p.bind(_one(x), x))


@_slope("asin_slope")
def asin_slope_p(x: Any) -> Any:
    """``1/sqrt(1 - x²)``."""
    return rsqrt_p.bind(_one_minus_square(x))


@_slope("atan_slope")
def atan_slope_p(x: Any) -> Any:
    """``1/(1 + x²)``."""
    return div_p.bind(_one(x), add_p.bind(square_p.bind(x), _one(x)))


@_slope("asinh_slope")
def asinh_slope_p(x: Any) -> Any:
    """``1/sqrt(1 + x²)``; ``1/|x|`` where the 1 is not seen, before the square overflows."""
    near = rsqrt_p.bind(add_p.bind(square_p.bind(x), _one(x)))
    if kind_of(x.dtype) == "complex":
        return near
    size = abs_p.bind(x)
    limit = scalar(2 / sqrt(float(finfo(x.dtype).eps)), x.dtype)
    return select_n_p.bind(gt_p.bind(size, limit), near, div_p.bind(_one(x), size))


@_slope("acosh_slope")
def acosh_slope_p(x: Any) -> Any:
    """``1/sqrt(x² - 1)``: by two roots, of a product that could overflow, and on their branch."""
    return mul_p.bind(rsqrt_p.bind(sub_p.bind(x, _one(x))), rsqrt_p.bind(add_p.bind(x, _one(x))))


@_slope("atanh_slope")
def atanh_slope_p(x: Any) -> Any:
    """``1/(1 - x²)``."""
    return div_p.bind(_one(x), _one_minus_square(x))


@_slope("erf_slope", FLOATING)
def erf_slope_p(x: Any) -> Any:
    """``2/sqrt(π) exp(-x²)``."""
    from ..numerics.precision import gauss

    return mul_p.bind(gauss(x, -1.0), scalar(2 / sqrt(pi), x.dtype))


@_slope("normal_density", FLOATING)
def normal_density_p(x: Any) -> Any:
    """``exp(-x²/2)/sqrt(2π)``."""
    from ..numerics.precision import gauss

    return mul_p.bind(gauss(x, -0.5), scalar(sqrt(0.5 / pi), x.dtype))


def _inverse_error(y: Any) -> tuple[Any, Any, Any]:
    """``x = erf_inv(|y|)``, ``sqrt(π)/2 exp(x²)``, and what a step of Newton's method adds to x."""
    from ..numerics.precision import gauss

    size = abs_p.bind(y)
    x = erf_inv_p.bind(size)
    slope = mul_p.bind(gauss(x, 1.0), scalar(sqrt(pi) / 2, y.dtype))
    rest = sub_p.bind(erfc_p.bind(x), sub_p.bind(_one(y), size))
    # Where y is small the rest is a rounding of 1, and so it is at 1, where x is infinite.
    fine = and_p.bind(gt_p.bind(size, scalar(0.5, y.dtype)), gt_p.bind(_one(y), size))
    return x, slope, select_n_p.bind(fine, scalar(0.0, y.dtype), mul_p.bind(rest, slope))


@_slope("erf_inv_slope", FLOATING)
def erf_inv_slope_p(y: Any) -> Any:
    """``sqrt(π)/2 exp(x²)`` at ``x = erf_inv(y)``, whose error is taken out to first order."""
    x, slope, step = _inverse_error(y)
    # Where x is infinite the slope is, too, and the step is 0.
    twice = mul_p.bind(mul_p.bind(min_p.bind(x, scalar(40.0, y.dtype)), scalar(2.0, y.dtype)), step)
    return mul_p.bind(slope, add_p.bind(_one(y), twice))


@_slope("precise_erf_inv", FLOATING)
def precise_erf_inv_p(y: Any) -> Any:
    """``erf_inv`` to the last digits, which XLA's lacks near 1 and -1."""
    x, _, step = _inverse_error(y)
    return mul_p.bind(sign_p.bind(y), add_p.bind(x, step))


@_slope("scaled_bessel_slope", FLOATING)
def scaled_bessel_slope_p(x: Any, *, n: int, order: int) -> Any:
    """The derivative of ``exp(-|x|) In(x)``, for n = 0 or 1, of an order."""
    from ..numerics.bessel import scaled_slope

    return scaled_slope(x, n, order)


def _reflected(x: Any) -> tuple[Any, Any, Any, Any]:
    """A mask of negative ``x``; ``x`` or ``1 - x``; the sine and the cosine of ``πx``.

    These two of what is left of x beside the nearest integer, but for a sign that both have.
    """
    negative = gt_p.bind(scalar(0.0, x.dtype), x)
    rest = sub_p.bind(x, round_p.bind(x, rounding_method=RoundingMethod.TO_NEAREST_EVEN))
    angle = mul_p.bind(select_n_p.bind(negative, scalar(0.5, x.dtype), rest), scalar(pi, x.dtype))
    mirrored = select_n_p.bind(negative, x, sub_p.bind(_one(x), x))
    return negative, mirrored, sin_p.bind(angle), cos_p.bind(angle)


def _far(x: Any) -> Any:
    """The number from which on two terms of asymptotic series suffice; powers do not underflow."""
    return gt_p.bind(x, scalar(2 / float(finfo(x.dtype).eps) ** 0.625, x.dtype))


@_slope("trigamma", FLOATING)
def trigamma_p(x: Any) -> Any:
    """The derivative of digamma; of negative numbers by reflection, DLMF 5.15.6."""
    negative, y, sine, _ = _reflected(x)
    far, inverse = _far(y), div_p.bind(_one(x), y)
    near = positive_zeta_p.bind(scalar(2.0, x.dtype), select_n_p.bind(far, y, _one(x)))
    second = mul_p.bind(scalar(0.5, x.dtype), square_p.bind(inverse))
    result = select_n_p.bind(far, near, add_p.bind(inverse, second))
    turns = square_p.bind(div_p.bind(scalar(pi, x.dtype), sine))
    return select_n_p.bind(negative, result, sub_p.bind(turns, result))


@_slope("tetragamma", FLOATING)
def tetragamma_p(x: Any) -> Any:
    """The derivative of ``trigamma``."""
    negative, y, sine, cosine = _reflected(x)
    far, inverse = _far(y), div_p.bind(_one(x), y)
    near = positive_zeta_p.bind(scalar(3.0, x.dtype), select_n_p.bind(far, y, _one(x)))
    near = mul_p.bind(near, scalar(-2.0, x.dtype))
    asymptotic = neg_p.bind(mul_p.bind(inverse, mul_p.bind(inverse, add_p.bind(inverse, _one(x)))))
    result = select_n_p.bind(far, near, asymptotic)
    ratio = div_p.bind(scalar(pi, x.dtype), sine)
    turns = mul_p.bind(mul_p.bind(square_p.bind(ratio), ratio), cosine)
    turns = mul_p.bind(turns, scalar(-2.0, x.dtype))
    return select_n_p.bind(negative, result, add_p.bind(turns, result))


describe(__name__)
