"""Complex numbers: their parts, and putting them together."""

from __future__ import annotations

from ..primitives.values import complex_p, conj_p, imag_p, real_p
from ._args import Array, ArrayLike, binary, unary


def real(x: ArrayLike) -> Array:
    """The real part of complex numbers."""
    return unary(real_p, x)


def imag(x: ArrayLike) -> Array:
    """The imaginary part of complex numbers."""
    return unary(imag_p, x)


def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """``x + i y`` of two real operands, float32 or float64."""
    return binary(complex_p, x, y)


def conj(x: ArrayLike) -> Array:
    """The complex conjugate; real operands become complex."""
    return unary(conj_p, x)
