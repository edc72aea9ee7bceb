"""Costs of products, convolutions and Fourier transforms."""

from __future__ import annotations

from math import log2, prod
from typing import Any

from dovetail_remat import cost_rules

from ...primitives.contractions import conv_general_dilated_p, dot_general_p
from ...primitives.fft import fft_p


@cost_rules.register(dot_general_p)
def _dot_cost(ins: Any, outs: Any, /, *, dimension_numbers: Any, **params: Any) -> float:
    """A multiplication and an addition per element of the result and contracted place."""
    (contracted, _), _ = dimension_numbers
    return 2.0 * outs[0].size * prod(ins[0].shape[i] for i in contracted)


@cost_rules.register(conv_general_dilated_p)
def _conv_cost(ins: Any, outs: Any, /, *, dimension_numbers: Any, **params: Any) -> float:
    """As a product: each output feature sums over the window and the features of its group."""
    _, kernel = ins
    features = kernel.shape[dimension_numbers.rhs_spec[0]]
    return 2.0 * outs[0].size * kernel.size / max(features, 1)


@cost_rules.register(fft_p)
def _fft_cost(ins: Any, outs: Any, /, *, fft_lengths: Any, **params: Any) -> float:
    """5 n log2(n), as is customary, for each transform."""
    n = max(prod(fft_lengths), 1)
    count = max(ins[0].size, outs[0].size) / n
    return 5.0 * count * n * max(log2(n), 1.0)
