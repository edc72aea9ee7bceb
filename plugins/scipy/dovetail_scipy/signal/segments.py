"""Segments of signals under a window, and their Fourier transforms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_lax import dtypes

from ..arguments import one_of
from .detrending import detrend as without_trend


@dataclass(frozen=True)
class Segments:
    """The segments of signals of one length, independent of their values.

    Attributes:
        size: elements of a segment; overlap: elements that two neighbours share.
        nfft: length of the transforms.
        onesided: whether frequencies that follow from the others are left out.
        window: factors of a segment's elements; None where they are given as an array.
    """

    size: int
    overlap: int
    nfft: int
    onesided: bool
    window: tuple[float, ...] | None

    @property
    def step(self) -> int:
        """The number of elements from the start of a segment to that of the next one."""
        return self.size - self.overlap

    def indices(self, count: int) -> Any:
        """The index of each element of ``count`` segments."""
        return np.arange(count)[:, None] * self.step + np.arange(self.size)[None, :]

    def count(self, length: int) -> int:
        """The number of complete segments of a signal."""
        return (length - self.overlap) // self.step


def plan(
    name: str, window: Any, length: int, nperseg: Any, noverlap: Any, nfft: Any, onesided: bool
) -> tuple[Segments, Any]:
    """The segments, and the window if it is given as an array, else None.

    Raises:
        ValueError: sizes do not fit.
    """
    array: Any = None
    if isinstance(window, (str, tuple)):
        size = _integer(name, "nperseg", 256 if nperseg is None else nperseg, 1)
        if size > length and nperseg is not None:
            warnings.warn(
                f"{name}: nperseg={size} is greater than the signal's length {length}{here()}; "
                f"it is taken as {length}",
                stacklevel=3,
            )
        size = min(size, length)
        values = named_window(name, window, size)
    else:
        array = window if hasattr(window, "aval") else dnp.asarray(window)
        values, size = None, _size_of(name, array, length, nperseg)
    overlap = size // 2 if noverlap is None else _integer(name, "noverlap", noverlap, 0)
    transform = size if nfft is None else _integer(name, "nfft", nfft, 1)
    if overlap >= size or transform < size:
        raise ValueError(
            f"{name}: noverlap={overlap} must be less, and nfft={transform} not less, than the "
            f"{size} elements of a segment{here()}"
        )
    return Segments(size, overlap, transform, onesided, values), array


def _integer(name: str, what: str, x: Any, least: int) -> int:
    result = arguments.integer(what, x)
    if result < least:
        raise ValueError(f"{name}: {what} must be at least {least}, got {result}{here()}")
    return result


def _size_of(name: str, window: Any, length: int, nperseg: Any) -> int:
    if window.ndim != 1 or not 0 < window.shape[0] <= length:
        raise ValueError(
            f"{name}: a window is a vector no longer than the signal, which has {length} elements; "
            f"got shape {window.shape}{here()}"
        )
    size = window.shape[0]
    if nperseg is not None and arguments.integer("nperseg", nperseg) != size:
        raise ValueError(
            f"{name}: nperseg={nperseg} differs from the window's length {size}{here()}. Leave "
            "it out."
        )
    return size


def named_window(name: str, window: Any, size: int) -> tuple[float, ...]:
    """A window by its name.

    Raises:
        ValueError: there is no such window.
    """
    from scipy.signal import get_window

    try:
        return tuple(np.asarray(get_window(window, size)).tolist())
    except (ValueError, TypeError) as e:
        raise ValueError(f"{name}: window {short_repr(window)}{here()}: {e}") from None


def window_of(segments: Segments, array: Any, dtype: Any) -> Any:
    """The window in a real type."""
    if segments.window is not None:
        return dnp.asarray(np.array(segments.window).astype(dtype))
    return lax.convert_element_type(array, dtypes.promote_types(array.dtype, dtype))


def transforms(x: Any, segments: Segments, window: Any, detrend: Any) -> Any:
    """The Fourier transform of each segment, less its trend, under the window.

    Args:
        x: signals along the last axis.

    Returns: an array of shape ``(..., segments, frequencies)``.
    """
    parts: Any = dnp.take(x, segments.indices(segments.count(x.shape[-1])), axis=-1)
    if callable(detrend):
        parts = detrend(parts)
    elif detrend:
        parts = without_trend(parts, axis=-1, type=detrend)
    transform = dnp.fft.rfft if segments.onesided else dnp.fft.fft
    window = window.reshape(*(1,) * (parts.ndim - 1), -1)
    return transform(parts * window, segments.nfft)


def check_detrend(name: str, detrend: Any) -> Any:
    """The option ``detrend``, checked; None becomes False.

    Raises:
        ValueError: it is no function and none of the allowed values.
    """
    if callable(detrend):
        return detrend
    return one_of(name, "detrend", detrend, (False, None, "constant", "linear", "c", "l")) or False


def frequencies(segments: Segments, fs: Any) -> Any:
    """The frequencies of transforms, for a number of samples per unit of time."""
    made = dnp.fft.rfftfreq if segments.onesided else dnp.fft.fftfreq
    return made(segments.nfft) * fs


def with_calls(*args: Any, **options: Any) -> bool:
    """True if a function of the user is among the arguments, whose results may not be cached."""
    return callable(options.get("detrend"))
