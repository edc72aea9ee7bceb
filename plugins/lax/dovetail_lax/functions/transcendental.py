"""Exponentials, logarithms, the logistic function; trigonometric and hyperbolic functions."""

from __future__ import annotations

from ..primitives.transcendental import (
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan2_p,
    atan_p,
    atanh_p,
    cos_p,
    cosh_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    logistic_p,
    sin_p,
    sinh_p,
    tan_p,
    tanh_p,
)
from .arithmetic import Accuracy, accuracy_params
from .operands import Array, ArrayLike, binary, unary, unary_with


def exp(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """``e ** x``, elementwise; floating-point and complex."""
    if accuracy is not None:
        return unary_with(exp_p, x, accuracy_params(accuracy))
    return unary(exp_p, x)


def exp2(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """``2 ** x``, elementwise; floating-point and complex."""
    if accuracy is not None:
        return unary_with(exp2_p, x, accuracy_params(accuracy))
    return unary(exp2_p, x)


def expm1(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """``e ** x - 1``, elementwise, accurate near zero."""
    if accuracy is not None:
        return unary_with(expm1_p, x, accuracy_params(accuracy))
    return unary(expm1_p, x)


def log(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """Natural logarithm, elementwise; NaN for negative reals."""
    if accuracy is not None:
        return unary_with(log_p, x, accuracy_params(accuracy))
    return unary(log_p, x)


def log1p(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """``log(1 + x)``, elementwise, accurate near zero."""
    if accuracy is not None:
        return unary_with(log1p_p, x, accuracy_params(accuracy))
    return unary(log1p_p, x)


def logistic(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """The logistic function ``1 / (1 + exp(-x))``, elementwise."""
    if accuracy is not None:
        return unary_with(logistic_p, x, accuracy_params(accuracy))
    return unary(logistic_p, x)


def sin(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """Sine, elementwise."""
    if accuracy is not None:
        return unary_with(sin_p, x, accuracy_params(accuracy))
    return unary(sin_p, x)


def cos(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """Cosine, elementwise."""
    if accuracy is not None:
        return unary_with(cos_p, x, accuracy_params(accuracy))
    return unary(cos_p, x)


def tan(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """Tangent, elementwise."""
    if accuracy is not None:
        return unary_with(tan_p, x, accuracy_params(accuracy))
    return unary(tan_p, x)


def asin(x: ArrayLike) -> Array:
    """Inverse sine, elementwise, in [-π/2, π/2]."""
    return unary(asin_p, x)


def acos(x: ArrayLike) -> Array:
    """Inverse cosine, elementwise, in [0, π]."""
    return unary(acos_p, x)


def atan(x: ArrayLike) -> Array:
    """Inverse tangent, elementwise, in [-π/2, π/2]."""
    return unary(atan_p, x)


def atan2(x: ArrayLike, y: ArrayLike) -> Array:
    """The angle of the point ``(y, x)``, elementwise: ``x`` is its second coordinate."""
    return binary(atan2_p, x, y)


def sinh(x: ArrayLike) -> Array:
    """Hyperbolic sine, elementwise."""
    return unary(sinh_p, x)


def cosh(x: ArrayLike) -> Array:
    """Hyperbolic cosine, elementwise."""
    return unary(cosh_p, x)


def tanh(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """Hyperbolic tangent, elementwise."""
    if accuracy is not None:
        return unary_with(tanh_p, x, accuracy_params(accuracy))
    return unary(tanh_p, x)


def asinh(x: ArrayLike) -> Array:
    """Inverse hyperbolic sine, elementwise."""
    return unary(asinh_p, x)


def acosh(x: ArrayLike) -> Array:
    """Inverse hyperbolic cosine, elementwise."""
    return unary(acosh_p, x)


def atanh(x: ArrayLike) -> Array:
    """Inverse hyperbolic tangent, elementwise."""
    return unary(atanh_p, x)
