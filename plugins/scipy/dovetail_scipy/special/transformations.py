"""Transformations of data: log-odds and their inverse, Box-Cox transformation, softmax."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_nn as nn
import dovetail_numpy as dnp
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, differentiable, evaluate
from .series import horner, log1p


@differentiable(lambda out, x: 1.0 / (x * (1.0 - x)))
def _logit(x: Any) -> Any:
    if x.dtype.kind == "c":
        return lax.log(x / (1.0 - x))
    # log(x/(1-x)) = log1p((2x-1)/(1-x)), where 2x-1 is exact; small x do not lose 1-x.
    middle = dnp.logical_and(x > 0.36, x < 0.64)
    centre = dnp.where(middle, x, 0.5)
    near = log1p((2.0 * centre - 1.0) / (1.0 - centre))
    return dnp.where(middle, near, lax.log(x / (1.0 - x)))


@fused()
def logit(x: ArrayLike) -> Array:
    """The logarithm of odds, ``log(x / (1 - x))``, real or complex.

    NaN outside of 0 <= x <= 1, where it is real. Its derivative is ``1 / (x * (1 - x))``.
    """
    return evaluate("logit", _logit, x, complex=True)


@fused()
def expit(x: ArrayLike) -> Array:
    """The logistic function ``1 / (1 + exp(-x))``, real or complex."""
    return evaluate("expit", lax.logistic, x, complex=True)


def _growth(y: Any) -> Any:
    """``(exp(y) - 1)/y``, whose derivatives do not cancel near 0: a power series is used there."""
    small = abs(y) < 1.0
    series = horner(dnp.where(small, y, 0.0), [1 / factorial(k + 1) for k in range(20)])
    other = dnp.where(small, 1.0, y)
    return dnp.where(small, series, (lax.exp(other) - 1.0) / other)


def _boxcox(x: Any, lmbda: Any) -> Any:
    # log(x) (exp(y) - 1)/y with y = λ log(x); of large powers, exp(y) would magnify y's rounding.
    large = abs(lmbda * lax.log(x)) > 1.0
    log = lax.log(dnp.where(large, 1.0, x))
    base, exponent = dnp.where(large, x, 1.0), dnp.where(large, lmbda, 1.0)
    power = (lax.pow(base, exponent) - 1.0) / exponent
    value = dnp.where(large, power, log * _growth(lmbda * log))
    return _defined(x, value, lmbda)


def _boxcox1p(x: Any, lmbda: Any) -> Any:
    if x.dtype.kind != "c":
        tall = dnp.logical_and(x > 1.0, lmbda == lmbda)
        large = _boxcox(dnp.where(tall, x, 1.0) + 1.0, lmbda)
        x = dnp.where(tall, 1.0, x)
    else:
        tall = large = None
    log = log1p(x)
    small = _defined(x + 1.0, log * _growth(lmbda * log), lmbda)
    return small if tall is None else dnp.where(tall, large, small)


def _defined(x: Any, value: Any, lmbda: Any) -> Any:
    """``value`` for positive ``x``, the limit at 0, NaN below."""
    if x.dtype.kind == "c":
        return value
    limit = dnp.where(lmbda > 0, -1.0 / dnp.where(lmbda > 0, lmbda, 1.0), -np.inf)
    return dnp.where(x > 0, value, dnp.where(x == 0, limit, np.nan))


@fused()
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """The Box-Cox transformation ``(x**lmbda - 1) / lmbda``, which is ``log(x)`` for ``lmbda = 0``.

    NaN for negative ``x``; at 0 the limit. It has all derivatives in both arguments, also at
    ``lmbda = 0``.
    """
    return evaluate("boxcox", _boxcox, x, lmbda, complex=True)


@fused()
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """The transformation :func:`boxcox` of ``1 + x``, accurately for small ``x``."""
    return evaluate("boxcox1p", _boxcox1p, x, lmbda, complex=True)


Axis = Any


def softmax(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """``exp(x)`` over its sum along ``axis``: one axis, several of them, or None for all."""
    return nn.softmax(x, axis=axis)


def log_softmax(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """The logarithm of :func:`softmax`."""
    return nn.log_softmax(x, axis=axis)
