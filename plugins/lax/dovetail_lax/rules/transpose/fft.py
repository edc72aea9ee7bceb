"""Transposes of Fourier transforms.

The complex transforms are symmetric. Of a real one the result lacks the conjugate half of the
spectrum: an element counts twice unless it is its own mirror image.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dovetail_ad import transpose_rules
from dovetail_core import typeof

from ...primitives.arithmetic import div_p, mul_p
from ...primitives.bits import or_p
from ...primitives.comparison import eq_p
from ...primitives.complex import conj_p
from ...primitives.creation import iota_p
from ...primitives.fft import FftType, fft_p
from ...primitives.moves import spread
from ...primitives.selection import select_n_p
from ...scalars import scalar


@transpose_rules.register(fft_p)
def _fft(ct: Any, x: Any, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> list[Any]:
    if fft_type == FftType.RFFT:
        # x_n = Re sum_k ct_k w^(kn): the inverse transform of conj(ct) / counts, times the size.
        whole = div_p.bind(conj_p.bind(ct), _counts(ct, fft_lengths))
        out = fft_p.bind(whole, fft_type=FftType.IRFFT, fft_lengths=fft_lengths)
        return [mul_p.bind(out, scalar(float(prod(fft_lengths)), typeof(out).dtype))]  # type: ignore[attr-defined]
    if fft_type == FftType.IRFFT:
        half = fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths)
        weights = _counts(half, fft_lengths)
        size = scalar(float(prod(fft_lengths)), typeof(half).dtype)  # type: ignore[attr-defined]
        return [conj_p.bind(div_p.bind(mul_p.bind(half, weights), size))]
    return [fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)]


def _counts(spectrum: Any, lengths: tuple[int, ...]) -> Any:
    """How often each element of a half spectrum occurs in the whole one, in its shape."""
    shape: tuple[int, ...] = spectrum.shape
    last, n = len(shape) - 1, lengths[-1]
    place = iota_p.bind(dtype=np.dtype(np.int32), shape=shape[last:], dimension=0)
    alone = eq_p.bind(place, np.int32(0))
    if n % 2 == 0:
        alone = or_p.bind(alone, eq_p.bind(place, np.int32(n // 2)))
    dtype = spectrum.dtype
    return spread(select_n_p.bind(alone, scalar(2, dtype), scalar(1, dtype)), shape, (last,))
