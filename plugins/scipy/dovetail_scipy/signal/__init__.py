"""Signals: convolution, correlation, trends, spectra, short-time transforms."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .convolution import (
        convolve as convolve,
        convolve2d as convolve2d,
        correlate as correlate,
        correlate2d as correlate2d,
        fftconvolve as fftconvolve,
    )
    from .detrending import detrend as detrend
    from .short_time import istft as istft, stft as stft
    from .spectra import csd as csd, welch as welch
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
