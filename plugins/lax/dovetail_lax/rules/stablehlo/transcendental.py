"""Lowering of exponentials, logarithms, trigonometric and special functions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive

from ...primitives import transcendental as t
from ...primitives.special import (
    bessel_i1e_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    lgamma_p,
    positive_polygamma_p,
    positive_zeta_p,
)
from .arithmetic import broadcast
from .kinds import accurate, elementwise

accurate(t.exp_p, "stablehlo.exponential")
accurate(t.expm1_p, "stablehlo.exponential_minus_one")
accurate(t.log_p, "stablehlo.log")
accurate(t.log1p_p, "stablehlo.log_plus_one")
accurate(t.logistic_p, "stablehlo.logistic")
accurate(t.sin_p, "stablehlo.sine")
accurate(t.cos_p, "stablehlo.cosine")
accurate(t.tan_p, "stablehlo.tan")
accurate(t.tanh_p, "stablehlo.tanh")
elementwise(t.asin_p, "chlo.asin")
elementwise(t.acos_p, "chlo.acos")
elementwise(t.atan_p, "chlo.atan")
elementwise(t.atan2_p, "stablehlo.atan2")
elementwise(t.asinh_p, "chlo.asinh")
elementwise(t.acosh_p, "chlo.acosh")
elementwise(t.atanh_p, "chlo.atanh")


def _by_xla(op: str) -> Any:
    """The rule of a function that XLA expands; 8-bit floats are computed in float32."""

    return lambda b, *operands: _expanded(b, op, broadcast(b, operands), b.out)


def _expanded(b: Any, op: str, xs: Any, out: Any) -> Any:
    if out.dtype.itemsize > 1:
        return b.op(op, xs, out)
    wide = [b.convert(x, np.float32) for x in xs]
    return b.convert(b.op(op, wide, out.update(dtype=np.float32)), out.dtype)


def _function(primitive: Primitive, op: str) -> None:
    stablehlo_rules.set(primitive, _by_xla(op))


_erfc_by_xla = _by_xla("chlo.erfc")


@stablehlo_rules.register(erfc_p)
def _erfc(b: Any, x: Any) -> Any:
    """In double precision without the error of the rounded square in XLA's exp(-x²)."""
    out, aval = _erfc_by_xla(b, x), b.out
    if aval.dtype.itemsize < 8:
        return out

    def op(name: str, *operands: Any, attrs: str = "") -> Any:
        return b.op(f"stablehlo.{name}", list(operands), aval, attrs)

    # On the left, where the result is nearly 2, nothing is lost; on the right it becomes 0.
    x = op("clamp", b.constant(0.0, aval), x, b.constant(30.0, aval))
    half = "exponent_bits = 11 : i32, mantissa_bits = 25 : i32"
    high = op("reduce_precision", x, attrs=half)
    rounded = op("subtract", op("multiply", high, high), op("multiply", x, x))
    lost = op("add", rounded, op("multiply", op("subtract", x, high), op("add", x, high)))
    return op("multiply", out, op("subtract", b.constant(1.0, aval), lost))


_function(erf_p, "chlo.erf")


@stablehlo_rules.register(erf_inv_p)
def _erf_inv(b: Any, x: Any) -> Any:
    """Of arrays with short last axes flat, on CPUs: XLA makes vectors along the last axis alone,
    for all that is in one loop; normal numbers of shape (n, 10) took 8 times as long. The barrier
    keeps what follows, in the shape of the result, out of the loop."""
    shape = x.aval.shape
    if b.platform != "cpu" or b.is_divided or not _is_narrow(shape):
        return _expanded(b, "chlo.erf_inv", [x], b.out)
    flat = x.aval.update(shape=(prod(shape),))
    result = _expanded(b, "chlo.erf_inv", [b.op("stablehlo.reshape", [x], flat)], flat)
    (kept,) = b.op("stablehlo.optimization_barrier", [result], [flat])
    return b.op("stablehlo.reshape", [kept], x.aval)


_LEAST_FLAT, _LANES, _WIDE = 1 << 12, 16, 256


def _is_narrow(shape: tuple[int, ...]) -> bool:
    return (
        len(shape) > 1
        and prod(shape) >= _LEAST_FLAT
        and shape[-1] < _WIDE
        and shape[-1] % _LANES > 0
    )


_function(lgamma_p, "chlo.lgamma")
_function(digamma_p, "chlo.digamma")
_function(positive_polygamma_p, "chlo.polygamma")
_function(positive_zeta_p, "chlo.zeta")
_function(bessel_i1e_p, "chlo.bessel_i1e")
