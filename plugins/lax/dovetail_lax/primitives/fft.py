"""The primitive of discrete Fourier transforms."""

from __future__ import annotations

import enum

from dovetail_core import Primitive, ShapedArray, here

from ..errors import ShapeError
from .traits import describe
from .values import complex_of, real_part


class FftType(enum.IntEnum):
    """The kind of a transform: of complex arrays or of real ones, forward or inverse."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3

    def __repr__(self) -> str:
        return f"FftType.{self.name}"

    __str__ = __repr__


fft_p = Primitive("fft")
"""Transforms the last ``len(fft_lengths)`` axes, of those lengths (of the real array)."""


@fft_p.def_abstract_eval
def _fft_type(x: ShapedArray, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> ShapedArray:
    n = len(fft_lengths)
    if not 1 <= n <= 3:
        raise ShapeError(
            f"lax.fft got fft_lengths={fft_lengths}{here()}: it transforms one to three axes. "
            "Transform more in several steps."
        )
    if len(x.shape) < n:
        raise ShapeError(
            f"lax.fft got fft_lengths={fft_lengths} for an operand {x.str_short()}{here()}, which "
            "has fewer axes."
        )
    wanted = "real" if fft_type == FftType.RFFT else "complex"
    if x.dtype.name not in (("float32", "float64") if wanted == "real" else _COMPLEX):
        raise TypeError(
            f"lax.fft ({fft_type.name}) does not accept {x.str_short()}{here()}: it takes "
            f"{wanted} arrays of 32-bit or 64-bit floats. Convert it first (convert_element_type)."
        )
    batch = x.shape[: len(x.shape) - n]
    half = (*fft_lengths[:-1], fft_lengths[-1] // 2 + 1 if fft_lengths[-1] else 0)
    given = half if fft_type == FftType.IRFFT else fft_lengths
    if x.shape[len(batch) :] != given:
        raise ShapeError(
            f"lax.fft ({fft_type.name}) with fft_lengths={fft_lengths} transforms axes of sizes "
            f"{given}; the operand {x.str_short()} has others{here()}. Pad or slice it first."
        )
    if fft_type == FftType.RFFT:
        return ShapedArray(batch + half, complex_of(x.dtype))
    if fft_type == FftType.IRFFT:
        return ShapedArray(batch + fft_lengths, real_part(x.dtype))
    return ShapedArray(x.shape, x.dtype)


_COMPLEX = ("complex64", "complex128")


describe(__name__)
