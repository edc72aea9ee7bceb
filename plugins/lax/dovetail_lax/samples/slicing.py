"""Samples of slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_testing import Sample

from ..primitives.shape import dynamic_slice_p, dynamic_update_slice_p, slice_p
from .shape import DTYPES, EMPTY, numbers


def samples() -> Iterator[Sample]:
    """Samples of these primitives; some starts are outside, so that boxes are moved inside."""
    for dtype in DTYPES:
        x = numbers((4, 5), dtype)
        limits: dict[str, Any] = {"start_indices": (1, 0), "limit_indices": (4, 5)}
        yield Sample(slice_p, (x,), {**limits, "strides": (2, 3)})
        starts = np.int32(2), np.int32(-1)
        yield Sample(dynamic_slice_p, (x, *starts), {"slice_sizes": (3, 2)})
        yield Sample(dynamic_update_slice_p, (x, numbers((2, 3), dtype, 50), *starts))
    x = numbers((4, 5))
    whole: dict[str, Any] = {"start_indices": (0, 5), "limit_indices": (4, 5), "strides": None}
    yield Sample(slice_p, (x,), whole, EMPTY)
    nothing: dict[str, Any] = {"start_indices": (), "limit_indices": (), "strides": None}
    yield Sample(slice_p, (numbers(()),), nothing)
    yield Sample(dynamic_slice_p, (x, 1, 9), {"slice_sizes": (1, 5)})
    yield Sample(dynamic_slice_p, (x, np.uint8(200), np.uint8(1)), {"slice_sizes": (2, 2)})
    yield Sample(dynamic_slice_p, (x, 0, 0), {"slice_sizes": (0, 2)}, EMPTY)
    yield Sample(dynamic_slice_p, (numbers(()),), {"slice_sizes": ()})
    yield Sample(dynamic_update_slice_p, (x, numbers((0, 2)), 0, 0), {}, EMPTY)
    yield Sample(dynamic_update_slice_p, (numbers(()), np.float32(7)))
    yield Sample(dynamic_update_slice_p, (x, numbers((4, 1)), np.int8(-3), np.int8(100)))
