"""Short-time Fourier transforms and their inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.arguments import axis_of
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact_arrays, one_of
from .segments import (
    Segments,
    check_detrend,
    frequencies,
    plan,
    transforms,
    window_of,
    with_calls,
)

_BOUNDARIES = {"even": "reflect", "odd": "reflect", "constant": "edge", "zeros": "constant"}


@reword_errors
def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """The Fourier transforms of overlapping segments of a signal.

    Args:
        x: signals along ``axis``.
        boundary: the values of half a segment that is added at both ends: ``"zeros"``, ``"even"``
            (mirrored), ``"odd"`` (mirrored at the last point), ``"constant"``; None adds nothing.
        padded: fill the signal with zeros so that segments cover it all.
        fs, window, nperseg, noverlap, nfft, detrend, return_onesided: as of :func:`csd`.

    Returns: ``(frequencies, times, transforms)``: frequencies along ``axis``, segments along the
        last one.

    Raises:
        ValueError: sizes do not fit, or an option is unknown.
    """
    one_of("stft", "boundary", boundary, (None, *_BOUNDARIES))
    detrend = check_detrend("stft", detrend)
    (x,) = inexact_arrays("stft", x)
    along = axis_of("stft", axis, x.ndim)
    x = dnp.moveaxis(x, along, -1)
    if not x.shape[-1]:
        raise ValueError(f"stft: the signal has no elements along axis {axis}{here()}")
    onesided = bool(return_onesided) and x.dtype.kind != "c"
    segments, array = plan("stft", window, x.shape[-1], nperseg, noverlap, nfft, onesided)
    f, t, z = _stft(
        x, dnp.asarray(fs), array, segments=segments, detrend=detrend, boundary=boundary,
        padded=bool(padded),
    )  # fmt: skip
    return f, t, dnp.moveaxis(z, -1, along)


@fused(static=("segments", "detrend", "boundary", "padded"), unless=with_calls)
def _stft(
    x: Any, fs: Any, array: Any, segments: Segments, detrend: Any, boundary: str | None,
    padded: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    half = segments.size // 2
    edge = [(0, 0)] * (x.ndim - 1)
    if boundary is not None:
        options = {"reflect_type": "odd"} if boundary == "odd" else {}
        x = dnp.pad(x, [*edge, (half, half)], mode=_BOUNDARIES[boundary], **options)
    if padded:
        missing = -(x.shape[-1] - segments.size) % segments.step % segments.size
        x = dnp.pad(x, [*edge, (0, missing)])
    window = window_of(segments, array, dnp.real(x).dtype)
    fs = dnp.astype(fs, window.dtype)
    result = transforms(x, segments, window, detrend) / dnp.sum(window)
    middles = np.arange(result.shape[-2]) * segments.step + segments.size / 2
    if boundary is not None:
        middles = middles - segments.size / 2
    times = middles.astype(window.dtype) / fs
    return frequencies(segments, fs), times, result


@reword_errors
def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The signal whose :func:`stft` with the same options is nearest to ``Zxx``.

    Args:
        Zxx: transforms of segments.
        nperseg: elements of a segment; by default as many as transforms have.
        input_onesided: frequencies that follow from the others are left out; the signal is real.
        boundary: the signal had been continued at both ends, which is cut off.
        time_axis, freq_axis: the axes of segments and of frequencies.

    Returns: ``(times, signal)``.

    Raises:
        ValueError: sizes do not fit, or axes are equal or out of bounds.
    """
    (z,) = inexact_arrays("istft", Zxx)
    if z.ndim < 2:
        raise ValueError(
            f"istft takes transforms of at least two dimensions, got shape {z.shape}{here()}"
        )
    times, freqs = (axis_of("istft", a, z.ndim) for a in (time_axis, freq_axis))
    if times == freqs:
        raise ValueError(f"istft: time_axis and freq_axis are both {times}{here()}")
    z = dnp.moveaxis(z, (times, freqs), (-2, -1))
    segments, array = _inverse_plan(z, window, nperseg, noverlap, nfft, bool(input_onesided))
    t, x = _istft(z, dnp.asarray(fs), array, segments=segments, boundary=bool(boundary))
    if x.ndim > 1:
        x = dnp.moveaxis(x, -1, min(times, freqs) if times < freqs else times - 1)
    return t, x


def _inverse_plan(
    z: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, onesided: bool
) -> tuple[Segments, Any]:
    usual = 2 * (z.shape[-1] - 1) if onesided else z.shape[-1]
    size = usual if nperseg is None else arguments.integer("nperseg", nperseg)
    if size < 1:
        raise ValueError(f"istft: nperseg must be positive, got {size}{here()}")
    if nfft is None:
        nfft = size if onesided and size == usual + 1 else usual
    return plan("istft", window, size, size, noverlap, nfft, onesided)


@fused(static=("segments", "boundary"))
def _istft(z: Any, fs: Any, array: Any, segments: Segments, boundary: bool) -> tuple[Any, Any]:
    inverse = dnp.fft.irfft if segments.onesided else dnp.fft.ifft
    parts = inverse(z, segments.nfft)[..., : segments.size]
    window = window_of(segments, array, dnp.real(parts).dtype)
    indices = segments.indices(z.shape[-2])
    length = int(indices.max(initial=-1)) + 1
    # The signal whose segments are nearest: sums under the window over sums of its squares.
    signal = dnp.zeros((*parts.shape[:-2], length), parts.dtype)
    signal = signal.at[..., indices].add(parts * window * dnp.sum(window))
    squares = dnp.broadcast_to(window * window, indices.shape)
    norm = dnp.zeros((length,), window.dtype).at[indices].add(squares)
    half = segments.size // 2 if boundary else 0
    signal, norm = (v[..., half : length - half] for v in (signal, norm))
    signal = signal / dnp.where(norm > 1e-10, norm, 1)
    times = np.arange(signal.shape[-1]).astype(window.dtype) / dnp.astype(fs, window.dtype)
    return times, signal
