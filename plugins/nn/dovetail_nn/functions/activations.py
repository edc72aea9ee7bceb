"""Activation functions: smooth ones, and piecewise ones such as ``relu``."""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import axis_of
from dovetail_core import get_trace, here
from dovetail_custom_rules import custom_jvp
from dovetail_jit import fused, one_call
from dovetail_numpy import fusion

from ..arguments import array, inexact, with_number
from ..primitives import log1mexp_p, normal_cdf_p, number, relu6_p, relu_p, softplus_p

Array = Any


ArrayLike = Any


def identity(x: ArrayLike) -> Array:
    """``x``.

    Raises:
        TypeError: ``x`` is no array and no number, as for all activation functions.
    """
    return array("identity", x)


@fusion.of_one_array()
def sigmoid(x: ArrayLike) -> Array:
    """The logistic function ``1 / (1 + exp(-x))``, of floating-point or complex numbers."""
    return lax.logistic(x)


def tanh(x: ArrayLike) -> Array:
    """The hyperbolic tangent."""
    return dnp.tanh(x)


def softplus(x: ArrayLike) -> Array:
    """``log(1 + exp(x))``, a smooth ``relu``."""
    x = with_number("softplus", x)
    return dnp.logaddexp(x, 0.0) if x.dtype.kind == "c" else softplus_p.bind(x)


def log_sigmoid(x: ArrayLike) -> Array:
    """The logarithm of the logistic function."""
    return _log_sigmoid(with_number("log_sigmoid", x))


@fused()
def _log_sigmoid(x: Any) -> Any:
    return lax.neg(softplus(lax.neg(x)))


def silu(x: ArrayLike) -> Array:
    """``x`` times its logistic function, of floating-point or complex numbers; also ``swish``."""
    return _silu(array("silu", x))


@fused()
def _silu(x: Any) -> Any:
    return lax.mul_p.bind(x, lax.logistic(x))


swish = silu


def mish(x: ArrayLike) -> Array:
    """``x * tanh(softplus(x))``."""
    return _mish(with_number("mish", x))


@fused()
def _mish(x: Any) -> Any:
    return lax.mul(x, lax.tanh(softplus(x)))


def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """The Gaussian error linear unit: ``x`` times the normal distribution function of ``x``.

    Args:
        approximate: whether the distribution function is approximated by a hyperbolic tangent.
    """
    x = inexact("gelu", x)
    if x.weak_type:
        x = lax.convert_element_type(x, x.dtype)
    return _gelu_tanh(x) if approximate else _gelu_exact(x)


# The normal distribution function is about (1 + tanh(z)) / 2 where z is sqrt(2 / pi) times
# x + 0.044715 x**3. That is the logistic function of 2 z, which takes fewer operations, and is
# accurate where the distribution function is small.
_LINEAR = 2 * sqrt(2 / pi)
_CUBIC = _LINEAR * 0.044715


@fused()
def _gelu_tanh(x: Any) -> Any:
    # Beyond 30 the logistic function is 0 or 1. The square is limited, since an infinite one times
    # the derivative 0 would be NaN.
    mul, most = lax.mul_p.bind, number(900.0, x)
    square = mul(x, x)
    square = lax.select_n_p.bind(lax.lt_p.bind(square, most), most, square)
    slope = lax.add_p.bind(mul(square, number(_CUBIC, x)), number(_LINEAR, x))
    return mul(x, lax.logistic_p.bind(mul(x, slope)))


@fused()
def _gelu_exact(x: Any) -> Any:
    return lax.mul_p.bind(x, normal_cdf_p.bind(x))


@one_call()
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """``(x + sqrt(x**2 + b)) / 2``: smooth, and ``relu`` for ``b = 0``."""
    return _squareplus(with_number("squareplus", x), b)


def _squareplus(x: Any, b: Any) -> Any:
    dtype = dnp.result_type(x, b)
    if dtype.kind == "c":
        return dnp.multiply(dnp.add(x, dnp.sqrt(dnp.add(lax.square(x), b))), 0.5)
    # Below 0, where its terms cancel, it is computed as (b/2) / (sqrt(x² + b) - x).
    x, b = (
        lax.convert_element_type_p.bind(v, new_dtype=dtype, weak_type=v.aval.weak_type)
        for v in (x, dnp.asarray(b))
    )
    root, positive = _root(x, b), dnp.greater_equal(x, 0)
    high = dnp.where(dnp.equal(x, inf), x, root)
    above = dnp.add(dnp.multiply(x, 0.5), dnp.multiply(high, 0.5))
    below = dnp.divide(dnp.multiply(b, 0.5), dnp.where(positive, 1, dnp.subtract(root, x)))
    return dnp.where(positive, above, below)


@custom_jvp
def _root(x: Any, b: Any) -> Any:
    """``sqrt(x² + b)``, where the square does not overflow."""
    size = dnp.maximum(lax.abs(x), 1)
    part = dnp.divide(x, size)
    rest = dnp.divide(dnp.divide(b, size), size)
    return dnp.multiply(size, dnp.sqrt(dnp.add(lax.square(part), rest)))


@_root.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (x, b), (dx, db) = primals, tangents
    root = _root(x, b)
    half = dnp.divide(0.5, _nonzero(root))
    return root, dnp.add(dnp.multiply(dx, _share(x, b)), dnp.multiply(db, half))


@custom_jvp
def _share(x: Any, b: Any) -> Any:
    """``x / sqrt(x² + b)``."""
    return dnp.divide(x, _nonzero(_root(x, b)))


@_share.defjvp
def _(primals: Any, tangents: Any) -> Any:
    # (b/r) dx / r² - (x/r) db / (2 r²)
    (x, b), (dx, db) = primals, tangents
    out, root = _share(x, b), _nonzero(_root(x, b))
    along = dnp.divide(dnp.divide(dnp.divide(b, root), root), root)
    down = dnp.divide(dnp.divide(dnp.multiply(out, -0.5), root), root)
    return out, dnp.add(dnp.multiply(dx, along), dnp.multiply(db, down))


def _nonzero(x: Any) -> Any:
    return dnp.where(dnp.equal(x, 0), 1, x)


def log1mexp(x: ArrayLike) -> Array:
    """``log(1 - exp(-x))``, accurately for small and for large ``x``."""
    return log1mexp_p.bind(with_number("log1mexp", x))


def glu(x: ArrayLike, axis: int = -1) -> Array:
    """The gated linear unit: the first half along ``axis`` times the sigmoid of the second.

    Raises:
        ValueError: the axis is out of bounds, or its length is odd.
    """
    x = array("glu", x)
    at = axis_of("glu", axis, len(x.shape))
    if x.shape[at] % 2:
        raise ValueError(
            f"glu: axis {axis} has odd length {x.shape[at]}, so that it has no two halves{here()}"
        )
    return _glu(x, axis=at)


@fused(static=("axis",))
def _glu(x: Any, *, axis: int) -> Any:
    half = x.shape[axis] // 2
    first, second = lax.split(x, (half, half), axis)  # their cotangents are joined, not padded
    return lax.mul(first, lax.logistic(second))


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
    return _soft_sign(with_number("soft_sign", x))


@fused()
def _soft_sign(x: Any) -> Any:
    size = lax.abs(x)
    if x.dtype.kind == "c":
        return dnp.divide(x, dnp.add(size, 1.0))
    # From 1 on it is 1 - 1/(1 + x), whose derivative does not suffer from cancellation.
    share = dnp.divide(1.0, dnp.add(size, 1.0))
    near = dnp.multiply(x, share)
    far = dnp.logical_and(dnp.less(1, size), dnp.less(size, inf))  # NaN for infinity, as in JAX
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
    # Where x is positive, expm1 is not selected; it must not overflow, or its derivative is NaN.
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
    """``x`` limited to the range from -1 to 1."""
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
    """``(x + 1) / 2`` limited to the range from 0 to 1: the derivative of ``sparse_plus``."""
    return _sparse_sigmoid(inexact("sparse_sigmoid", x, weak=True))


@fused()
def _sparse_sigmoid(x: Any) -> Any:
    return dnp.multiply(dnp.clip(dnp.add(x, 1.0), 0.0, 2.0), 0.5)
