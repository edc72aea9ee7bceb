"""Fourier transforms with NumPy, in double precision."""

from __future__ import annotations

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.complex import complex_of, real_part
from ...primitives.fft import FftType, fft_p
from .kinds import Array, widened


@reference_rules.register(fft_p)
def _fft(x: Array, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Array:
    axes = tuple(range(x.ndim - len(fft_lengths), x.ndim))
    real = fft_type == FftType.IRFFT
    dtype = real_part(x.dtype) if real else complex_of(x.dtype)
    if 0 in fft_lengths or x.size == 0:
        last = fft_lengths[-1] // 2 + 1 if fft_type == FftType.RFFT else fft_lengths[-1]
        last = last if fft_lengths[-1] else 0
        return np.zeros((*x.shape[: axes[0]], *fft_lengths[:-1], last), dtype)
    transform = {
        FftType.FFT: np.fft.fftn,
        FftType.IFFT: np.fft.ifftn,
        FftType.RFFT: np.fft.rfftn,
        FftType.IRFFT: np.fft.irfftn,
    }[fft_type]
    return transform(widened(x), fft_lengths, axes).astype(dtype)
