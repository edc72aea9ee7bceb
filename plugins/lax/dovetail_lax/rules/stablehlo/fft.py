"""Lowering of Fourier transforms."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array

from ...primitives.fft import FftType, fft_p


@stablehlo_rules.register(fft_p)
def _fft(b: Any, x: Any, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Any:
    if b.out.size == 0:
        return b.constant(0, b.out)
    attrs = (
        f"fft_type = #stablehlo<fft_type {fft_type.name}>, fft_length = {i64_array(fft_lengths)}"
    )
    return b.op("stablehlo.fft", [x], b.out, attrs)
