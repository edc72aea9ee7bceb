"""Exponentials, logarithms and trigonometric functions by NumPy and SciPy."""

from __future__ import annotations

import numpy as np
from scipy import special

from ...primitives import exponential as e, trigonometric as t
from .kinds import Array, wide


def _log1p(x: Array) -> Array:
    return special.log1p(x)


def _logistic(x: Array) -> Array:
    return special.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x))


def _atan2(x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        return np.arctan2(x, y)
    return -1j * np.log((y + 1j * x) / np.sqrt(x * x + y * y))


wide(e.exp_p, np.exp)
wide(e.exp2_p, np.exp2)
wide(e.expm1_p, np.expm1)
wide(e.log_p, np.log)
wide(e.log1p_p, _log1p)
wide(e.logistic_p, _logistic)
wide(t.sin_p, np.sin)
wide(t.cos_p, np.cos)
wide(t.tan_p, np.tan)
wide(t.asin_p, np.arcsin)
wide(t.acos_p, np.arccos)
wide(t.atan_p, np.arctan)
wide(t.atan2_p, _atan2)
wide(t.sinh_p, np.sinh)
wide(t.cosh_p, np.cosh)
wide(t.tanh_p, np.tanh)
wide(t.asinh_p, np.arcsinh)
wide(t.acosh_p, np.arccosh)
wide(t.atanh_p, np.arctanh)
