"""Derivatives of Fourier transforms, which are linear."""

from __future__ import annotations

from ...primitives.fft import fft_p
from .kinds import linear

linear(fft_p)
