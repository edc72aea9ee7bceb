"""Functions of real and complex numbers: trigonometric, hyperbolic, exponential, powers of one."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.wrapping import alias

from ..fusion import fused, of_one_array
from ..operations import number, strong
from .plans import FLOATS, INEXACT, Unary, always, unary_function

_NOTE = (
    "\n\nThe result has the shape of ``x``; integers and booleans are computed in floating point."
    "\n\nRaises:\n    TypeError: ``x`` is not an array or a number{}."
)


def elementary(name: str, op: Any, summary: str, kinds: tuple[str, ...] = INEXACT) -> Any:
    """A public function that computes integers in floating point."""
    note = _NOTE.format(" or is complex" if kinds is FLOATS else "")
    return unary_function(Unary(name, always(op, kinds), inexact=True), summary + note)


F = Callable[[Any], Any]

sin: F = elementary("sin", lax.sin_p, "Sine of each element, in radians.")
cos: F = elementary("cos", lax.cos_p, "Cosine of each element, in radians.")
tan: F = elementary("tan", lax.tan_p, "Tangent of each element, in radians.")
arcsin: F = elementary("arcsin", lax.asin_p, "Inverse sine of each element.")
arccos: F = elementary("arccos", lax.acos_p, "Inverse cosine of each element.")
arctan: F = elementary("arctan", lax.atan_p, "Inverse tangent of each element.")
sinh: F = elementary("sinh", lax.sinh_p, "Hyperbolic sine of each element.")
cosh: F = elementary("cosh", lax.cosh_p, "Hyperbolic cosine of each element.")
tanh: F = elementary("tanh", lax.tanh_p, "Hyperbolic tangent of each element.")
arcsinh: F = elementary("arcsinh", lax.asinh_p, "Inverse hyperbolic sine of each element.")
arccosh: F = elementary("arccosh", lax.acosh_p, "Inverse hyperbolic cosine of each element.")
arctanh: F = elementary("arctanh", lax.atanh_p, "Inverse hyperbolic tangent of each element.")
exp: F = elementary("exp", lax.exp_p, "e to the power of each element.")
exp2: F = elementary("exp2", lax.exp2_p, "2 to the power of each element.")
expm1: F = elementary("expm1", lax.expm1_p, "``exp(x) - 1``, accurate near 0.")
log: F = elementary("log", lax.log_p, "Natural logarithm of each element.")
log1p: F = elementary("log1p", lax.log1p_p, "``log(1 + x)``, accurate near 0.")
sqrt: F = elementary("sqrt", lax.sqrt_p, "Square root of each element.")
cbrt: F = elementary("cbrt", lax.cbrt_p, "Cube root of each element.", FLOATS)

acos: F = of_one_array()(alias(arccos, "acos"))
asin: F = of_one_array()(alias(arcsin, "asin"))
atan: F = of_one_array()(alias(arctan, "atan"))
acosh: F = of_one_array()(alias(arccosh, "acosh"))
asinh: F = of_one_array()(alias(arcsinh, "asinh"))
atanh: F = of_one_array()(alias(arctanh, "atanh"))


def _scaled(x: Any, factor: float) -> Any:
    """``x * factor``; of a complex number each part, so that infinities stay as they are."""
    if x.dtype.kind != "c":
        return lax.mul_p.bind(x, number(x, factor))
    re, im = lax.real_p.bind(x), lax.imag_p.bind(x)
    return lax.complex_p.bind(
        lax.mul_p.bind(re, number(re, factor)), lax.mul_p.bind(im, number(im, factor))
    )


def _scaled_log(base: float) -> Any:
    scale = float(1 / np.log(base))
    return fused()(lambda x: strong(_scaled(lax.log_p.bind(x), scale)))


def _times(factor: float) -> Any:
    return lambda x: lax.mul_p.bind(x, number(x, factor))


@fused()
def _log2(x: Any) -> Any:
    # Divided, not multiplied by a rounded factor: exact at more powers of two.
    if x.dtype.kind == "c":
        return strong(_scaled(lax.log_p.bind(x), float(1 / np.log(2.0))))
    return strong(lax.div_p.bind(lax.log_p.bind(x), number(x, float(np.log(2.0)))))


log2: F = elementary("log2", _log2, "Logarithm to base 2 of each element.")
log10: F = elementary("log10", _scaled_log(10.0), "Logarithm to base 10 of each element.")
deg2rad: F = elementary("deg2rad", _times(pi / 180), "Degrees as radians.")
rad2deg: F = elementary("rad2deg", _times(180 / pi), "Radians as degrees.")
radians: F = elementary("radians", _times(pi / 180), "Degrees as radians.")
degrees: F = elementary("degrees", _times(180 / pi), "Radians as degrees.")
reciprocal: F = elementary(
    "reciprocal", lambda x: lax.integer_pow_p.bind(x, y=-1), "``1 / x`` of each element."
)
