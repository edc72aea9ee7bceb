"""Operands of this plugin's primitive, on which the law of every installed rule table is tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from dovetail_testing import Sample

from .shift import shift_p


def samples() -> Iterator[Sample]:
    """Some distances, the limits among them; both axes; other types; no elements."""
    numbers = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -4.0]], np.float32)
    for by in (1, -2, 0, 3, 5):
        yield Sample(shift_p, (numbers,), {"by": by, "axis": 1})
    yield Sample(shift_p, (numbers,), {"by": 1, "axis": 0})
    for dtype in (np.float16, np.complex64, np.int32, np.bool_):
        yield Sample(shift_p, (numbers.astype(dtype),), {"by": -1, "axis": 1})
    yield Sample(shift_p, (np.zeros((0, 3), np.float32),), {"by": 1, "axis": 0}, tags={"empty"})
