"""Fourier transforms over a mapped axis, which must not be among the transformed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.fft import fft_p
from ...primitives.moves import moved


@batch_rules.register(fft_p)
def _fft(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[Any],
    *,
    fft_lengths: tuple[int, ...],
    **params: Any,
) -> tuple[Any, int]:
    x, dim = args[0], dims[0]
    if dim >= len(x.shape) - len(fft_lengths):
        x, dim = moved(x, dim, 0), 0
    return fft_p.bind(x, fft_lengths=fft_lengths, **params), dim
