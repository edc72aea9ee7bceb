"""Inputs of this plugin's primitive, on which every installed table's law is tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample

from .gudermannian import gudermannian_p


def samples() -> Iterator[Sample]:
    """Ordinary numbers in three precisions, a scalar, no element at all, and the extremes."""
    numbers = np.array([[-3.0, -0.75, 0.0], [1e-3, 0.5, 2.0]])
    for dtype in (np.float32, np.float64, np.float16):
        yield Sample(gudermannian_p, (numbers.astype(dtype),))
    yield Sample(gudermannian_p, (0.25,))
    yield Sample(gudermannian_p, (np.zeros((0, 2), np.float32),), tags={"empty"})
    extremes = np.array([np.inf, -np.inf, np.nan, -0.0, 3e38], np.float32)
    yield Sample(gudermannian_p, (extremes,), tags={"extreme", "nonsmooth"})
