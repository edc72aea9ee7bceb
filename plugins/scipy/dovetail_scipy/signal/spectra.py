"""Spectra of signals by Welch's method."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_numpy as dnp
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


@reword_errors
def csd(
    x: ArrayLike,
    y: ArrayLike | None,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The cross spectral density of two signals: the mean over overlapping segments.

    Args:
        x, y: signals along ``axis``; the shorter one is filled with zeros, other axes broadcast.
            If ``y`` is None, it is ``x``, and the spectrum is real.
        fs: samples per unit of time.
        window: factors of the segments' elements: an array, or an argument of SciPy's
            ``get_window``.
        nperseg: elements of a segment; 256 by default, or those of the window.
        noverlap: elements that two segments share; half of them by default.
        nfft: the length of the transforms; segments are filled with zeros.
        detrend: ``"constant"`` or ``"linear"``: the trend that is subtracted from each segment (see
            :func:`detrend`); False for none; or a function of segments along the last axis.
        return_onesided: leave frequencies out that follow from the others; of real signals.
        scaling: ``"density"``: per frequency; ``"spectrum"``: not.
        average: ``"mean"`` or ``"median"`` of the segments.

    Returns: ``(frequencies, spectrum)``.

    Raises:
        ValueError: sizes do not fit, or an option is unknown.
    """
    return _csd("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
                scaling, axis, average)  # fmt: skip


@reword_errors
def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The power spectral density of a signal, by Welch's method (see :func:`csd`)."""
    return _csd("welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
                scaling, axis, average)  # fmt: skip


def _csd(
    name: str, x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any,
    detrend: Any, onesided: bool, scaling: str, axis: Any, average: str,
) -> tuple[Array, Array]:  # fmt: skip
    one_of(name, "scaling", scaling, ("density", "spectrum"))
    one_of(name, "average", average, ("mean", "median"))
    detrend = check_detrend(name, detrend)
    signals = inexact_arrays(name, x) if y is None else inexact_arrays(name, x, y)
    signals = _aligned(name, signals, axis)
    if not signals[0].shape[-1]:
        raise ValueError(f"{name}: signals have no elements along axis {axis}{here()}")
    real = all(s.dtype.kind != "c" for s in signals)
    length = signals[0].shape[-1]
    segments, array = plan(name, window, length, nperseg, noverlap, nfft, bool(onesided) and real)
    f, p = _spectrum(
        signals, dnp.asarray(fs), array, segments=segments, detrend=detrend,
        density=scaling == "density", median=average == "median",
    )  # fmt: skip
    p = dnp.real(p) if y is None else p
    return f, dnp.moveaxis(p, -1, axis_of(name, axis, p.ndim))


def _aligned(name: str, signals: list[Any], axis: Any) -> list[Any]:
    """Signals along the last axis, all as long as the longest."""
    moved = [dnp.moveaxis(s, axis_of(name, axis, s.ndim), -1) for s in signals]
    if len(moved) == 1:
        return moved
    try:
        dnp.broadcast_shapes(*[s.shape[:-1] for s in moved])
    except ValueError:
        shapes = [s.shape for s in signals]
        raise ValueError(
            f"{name}: signals of shapes {shapes[0]} and {shapes[1]} do not broadcast{here()}"
        ) from None
    n = max(s.shape[-1] for s in moved)
    return [dnp.pad(s, [(0, 0)] * (s.ndim - 1) + [(0, n - s.shape[-1])]) for s in moved]


@fused(static=("segments", "detrend", "density", "median"), unless=with_calls)
def _spectrum(
    signals: list[Any], fs: Any, array: Any, segments: Segments, detrend: Any, density: bool,
    median: bool,
) -> tuple[Any, Any]:  # fmt: skip
    window = window_of(segments, array, dnp.real(signals[0]).dtype)
    result = [transforms(s, segments, window, detrend) for s in signals]
    product = dnp.conj(result[0]) * result[-1]
    fs = dnp.astype(fs, window.dtype)
    scale = 1 / (fs * dnp.sum(window * window)) if density else 1 / dnp.sum(window) ** 2
    factors = np.ones(product.shape[-1])
    if segments.onesided:  # negative frequencies have as much
        factors[1 : None if segments.nfft % 2 else -1] = 2
    factors = factors.astype(window.dtype).reshape(*(1,) * (product.ndim - 1), -1)
    product = product * (scale * factors)
    return frequencies(segments, fs), _averaged(product, median)


def _averaged(p: Any, median: bool) -> Any:
    if not median:
        return dnp.mean(p, axis=-2)
    # The median of n exponentially distributed numbers, by their mean.
    n = p.shape[-2]
    later = 2.0 * np.arange(1, (n - 1) // 2 + 1)
    bias = 1 + float(np.sum(1 / (later + 1) - 1 / later))
    real, imag = (dnp.median(part, axis=-2) / bias for part in (dnp.real(p), dnp.imag(p)))
    return real + 1j * imag
