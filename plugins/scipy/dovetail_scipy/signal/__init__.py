"""Signals: convolution, correlation, trends, spectra, short-time transforms."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.signal.convolution import (
        convolve as convolve,
        convolve2d as convolve2d,
        correlate as correlate,
        correlate2d as correlate2d,
        fftconvolve as fftconvolve,
    )
    from dovetail_scipy.signal.detrending import detrend as detrend
    from dovetail_scipy.signal.short_time import istft as istft, stft as stft
    from dovetail_scipy.signal.spectra import csd as csd, welch as welch
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
