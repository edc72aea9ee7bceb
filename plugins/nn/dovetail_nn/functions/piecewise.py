"""Activation functions with kinks, or defined piece by piece."""

from __future__ import annotations

from math import inf
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import get_trace
from dovetail_jit import fused, one_call

from ..arguments import array, beside_number, inexact
from ..primitives import relu6_p, relu_p
from .smooth import Array, ArrayLike


def relu(x: ArrayLike) -> Array:
    """The rectified linear unit ``max(x, 0)``; its derivative at 0 is 0."""
    x = array("relu", x)
    if x.dtype.kind in "bc":
        return dnp.maximum(x, 0)
    return get_trace().process(relu_p, (x,), {})


def relu6(x: ArrayLike) -> Array:
    """``min(max(x, 0), 6)``; its derivatives at 0 and 6 are 0."""
    x = array("relu6", x)
    if x.dtype.kind == "c":
        return dnp.minimum(dnp.maximum(x, 0), 6.0)
    return relu6_p.bind(inexact("relu6", x, weak=True))


def soft_sign(x: ArrayLike) -> Array:
    """``x / (1 + abs(x))``."""
    return _soft_sign(beside_number("soft_sign", x))


@fused()
def _soft_sign(x: Any) -> Any:
    size = lax.abs(x)
    if x.dtype.kind == "c":
        return dnp.divide(x, dnp.add(size, 1.0))
    # From 1 on it is 1 - 1/(1 + x), of which the derivative does not cancel.
    share = dnp.divide(1.0, dnp.add(size, 1.0))
    near = dnp.multiply(x, share)
    far = dnp.logical_and(dnp.less(1, size), dnp.less(size, inf))  # of infinity NaN, as JAX's
    above = dnp.multiply(lax.sign(x), dnp.subtract(1.0, share))
    return dnp.where(far, above, near)


@one_call()
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """``x`` where that is at least 0, else ``negative_slope * x``."""
    return _leaky_relu(inexact("leaky_relu", x, weak=True), negative_slope)


def _leaky_relu(x: Any, negative_slope: Any) -> Any:
    return dnp.where(dnp.greater_equal(x, 0), x, dnp.multiply(x, negative_slope))


@one_call()
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where that is positive, else ``alpha * (exp(x) - 1)``."""
    return _elu(inexact("elu", x, weak=True), alpha)


@fused()
def _elu(x: Any, alpha: Any) -> Any:
    # Where x is positive expm1 is not used, and must not overflow lest its derivative be NaN.
    positive = dnp.greater(x, 0)
    below = dnp.multiply(lax.expm1(dnp.where(positive, 0.0, x)), alpha)
    return dnp.where(positive, x, below)


def selu(x: ArrayLike) -> Array:
    """The scaled ``elu`` that keeps mean 0 and variance 1 of its input."""
    return _selu(inexact("selu", x, weak=True))


SELU_ALPHA = 1.6732632423543772848170429916717


SELU_SCALE = 1.0507009873554804934193349852946


@fused()
def _selu(x: Any) -> Any:
    return dnp.multiply(_elu(x, SELU_ALPHA), SELU_SCALE)


@one_call()
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)``: smoother than ``elu``."""
    return _celu(inexact("celu", x, weak=True), alpha)


def _celu(x: Any, alpha: Any) -> Any:
    below = lax.expm1(dnp.divide(dnp.minimum(x, 0.0), alpha))
    return dnp.add(dnp.maximum(x, 0.0), dnp.multiply(below, alpha))


def hard_sigmoid(x: ArrayLike) -> Array:
    """``relu6(x + 3) / 6``."""
    return _hard_sigmoid(inexact("hard_sigmoid", x, weak=True))


@fused()
def _hard_sigmoid(x: Any) -> Any:
    return dnp.divide(relu6(dnp.add(x, 3.0)), 6.0)


def hard_silu(x: ArrayLike) -> Array:
    """``x * hard_sigmoid(x)``; also ``hard_swish``."""
    return _hard_silu(inexact("hard_silu", x, weak=True))


@fused()
def _hard_silu(x: Any) -> Any:
    return dnp.multiply(x, _hard_sigmoid(x))


hard_swish = hard_silu


def hard_tanh(x: ArrayLike) -> Array:
    """``x`` brought to the range from -1 to 1."""
    return _hard_tanh(array("hard_tanh", x))


@fused()
def _hard_tanh(x: Any) -> Any:
    return dnp.where(dnp.greater(x, 1), 1, dnp.where(dnp.less(x, -1), -1, x))


def sparse_plus(x: ArrayLike) -> Array:
    """0 up to -1, ``x`` from 1 on, and ``(x + 1)**2 / 4`` between: a sparse ``softplus``."""
    return _sparse_plus(inexact("sparse_plus", x, weak=True))


@fused()
def _sparse_plus(x: Any) -> Any:
    middle = dnp.multiply(lax.square(dnp.add(x, 1.0)), 0.25)
    return dnp.where(dnp.less_equal(x, -1), 0.0, dnp.where(dnp.greater_equal(x, 1), x, middle))


def sparse_sigmoid(x: ArrayLike) -> Array:
    """``(x + 1) / 2`` brought to the range from 0 to 1: the derivative of ``sparse_plus``."""
    return _sparse_sigmoid(inexact("sparse_sigmoid", x, weak=True))


@fused()
def _sparse_sigmoid(x: Any) -> Any:
    return dnp.multiply(dnp.clip(dnp.add(x, 1.0), 0.0, 2.0), 0.5)
