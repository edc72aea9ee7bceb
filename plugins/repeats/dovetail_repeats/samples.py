"""Sample inputs of the primitive ``repeated``, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core import algebra, stage_closed, typeof
from dovetail_testing import Sample

from .primitive import repeated_p


def samples() -> Iterator[Sample]:
    """A sum and its double, of real numbers and of integers."""
    for dtype in (np.float32, np.int32):
        x = np.arange(6, dtype=dtype).reshape(2, 3)
        yield Sample(repeated_p, (x, 2 * x), {"jaxpr": stage_closed(_sums, [typeof(x)] * 2, "f")})


def _sums(x: Any, y: Any) -> list[Any]:
    total = algebra().add(x, y)
    return [total, algebra().add(total, y)]
