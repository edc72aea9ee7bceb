"""Activation functions that are smooth."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_core.base.arguments import integer
from dovetail_jit import fused, one_call
from dovetail_numpy import fusion

from ..arguments import array, beside_number, inexact
from ..primitives import log1mexp_p, number, softplus_p

Array = Any


ArrayLike = Any


def identity(x: ArrayLike) -> Array:
    """``x``.

    Raises:
        TypeError: ``x`` is no array and no number. So do all activation functions.
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
    x = beside_number("softplus", x)
    return dnp.logaddexp(x, 0.0) if x.dtype.kind == "c" else softplus_p.bind(x)


def log_sigmoid(x: ArrayLike) -> Array:
    """The logarithm of the logistic function."""
    return _log_sigmoid(beside_number("log_sigmoid", x))


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
    return _mish(beside_number("mish", x))


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
    mul = lax.mul_p.bind
    slope = lax.add_p.bind(mul(lax.square_p.bind(x), number(_CUBIC, x)), number(_LINEAR, x))
    return mul(x, lax.logistic_p.bind(mul(x, slope)))


@fused()
def _gelu_exact(x: Any) -> Any:
    tail = lax.erfc_p.bind(lax.mul_p.bind(x, number(-sqrt(0.5), x)))
    return lax.mul_p.bind(lax.mul_p.bind(x, number(0.5, x)), tail)


@one_call()
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """``(x + sqrt(x**2 + b)) / 2``: smooth, and ``relu`` for ``b = 0``."""
    return _squareplus(beside_number("squareplus", x), b)


def _squareplus(x: Any, b: Any) -> Any:
    return dnp.multiply(dnp.add(x, dnp.sqrt(dnp.add(lax.square(x), b))), 0.5)


def log1mexp(x: ArrayLike) -> Array:
    """``log(1 - exp(-x))``, accurately for small and for large ``x``."""
    return log1mexp_p.bind(beside_number("log1mexp", x))


def glu(x: ArrayLike, axis: int = -1) -> Array:
    """The gated linear unit: the first half along ``axis`` times the sigmoid of the second.

    Raises:
        ValueError: the axis is out of bounds, or its length is odd.
    """
    x = array("glu", x)
    ndim, axis = len(x.shape), integer("axis", axis)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"glu: axis {axis} is out of bounds for an array of {ndim} dimensions{here()}"
        )
    if x.shape[axis] % 2:
        raise ValueError(
            f"glu: axis {axis} has odd length {x.shape[axis]}, so that it has no two halves{here()}"
        )
    return _glu(x, axis=axis % ndim)


@fused(static=("axis",))
def _glu(x: Any, *, axis: int) -> Any:
    half = x.shape[axis] // 2
    first, second = lax.split(x, (half, half), axis)  # whose cotangents are joined, not padded
    return lax.mul(first, lax.logistic(second))
