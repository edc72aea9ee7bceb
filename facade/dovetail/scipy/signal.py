"""Convolution, correlation, and spectral analysis of signals."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.signal import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
