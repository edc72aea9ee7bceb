"""Exponentials, logarithms and the logistic function."""

from __future__ import annotations

from ..primitives.transcendental import exp2_p, exp_p, expm1_p, log1p_p, log_p, logistic_p
from ._args import Array, ArrayLike, unary, unary_with
from .accuracy import Accuracy, accuracy_params


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
