"""Public function of discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_base.arguments import integers
from dovetail_core import canonical_dtype, here

from ..dtypes import kind_of
from ..primitives.fft import FftType, fft_p
from ..primitives.values import complex_of, convert_element_type_p
from .operands import Array, ArrayLike, check

_TYPES = dict(FftType.__members__)


def fft(x: ArrayLike, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """The discrete Fourier transform of the last ``len(fft_lengths)`` axes (at most three).

    Args:
        fft_type: a ``FftType`` or its name. ``RFFT`` takes real arrays and returns the first half
            of the last transformed axis, ``n // 2 + 1`` complex numbers; ``IRFFT`` inverts it.
        fft_lengths: the lengths of those axes (for ``IRFFT`` of the result's).

    Raises:
        TypeError: there is no such ``fft_type``, or the element type cannot be transformed.
        ValueError: lengths do not fit the axes, or an ``RFFT``'s operand is complex.
    """
    kind = fft_type if isinstance(fft_type, FftType) else _fft_type(fft_type)
    aval = check("fft", x)
    lengths = integers("fft_lengths", fft_lengths)
    if not lengths:
        return x
    if kind == FftType.RFFT and aval.dtype.kind == "c":
        raise ValueError(
            f"lax.fft (RFFT) does not accept {aval.str_short()}{here()}: it takes real arrays. "
            "Use FFT, or transform the real part."
        )
    if aval.dtype.kind != "c":
        x = _converted(x, aval.dtype, kind)
    return fft_p.bind(x, fft_type=kind, fft_lengths=lengths)


def _converted(x: Any, own: Any, kind: FftType) -> Any:
    dtype = own
    if kind_of(dtype) in ("bool", "signed", "unsigned"):
        dtype = canonical_dtype(np.float64)
    if kind != FftType.RFFT and dtype.name in ("float32", "float64"):
        dtype = complex_of(dtype)
    return x if dtype == own else convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)


def _fft_type(fft_type: Any) -> FftType:
    if isinstance(fft_type, str) and (result := _TYPES.get(fft_type.upper())) is not None:
        return result
    raise TypeError(
        f"lax.fft got fft_type={fft_type!r}{here()}: it is one of "
        f"{', '.join(FftType.__members__)} (a FftType or its name)."
    )
