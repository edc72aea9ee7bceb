"""What a scatter writes: the gather that reads it back, and the updates that it keeps."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dovetail_core import ShapedArray, zeros_like_aval

from ..primitives.arithmetic import add_p
from ..primitives.discrete import eq_p, ne_p
from ..primitives.gather import as_gather, gather_p, scatter_p, window_sizes
from ..primitives.indexing import GatherScatterMode
from ..primitives.moves import reshaped
from ..primitives.shape import Shape
from ..primitives.values import iota_p

_INT32 = np.dtype(np.int32)


def reading(operand: Shape, updates: Shape, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the gather that reads what a scatter with ``params`` writes.

    It reads zeros for windows that the scatter ignores.
    """
    mode = params["mode"]
    if mode is GatherScatterMode.ONE_HOT:
        mode = GatherScatterMode.FILL_OR_DROP
    return {
        "dimension_numbers": as_gather(params["dimension_numbers"]),
        "slice_sizes": window_sizes(operand, updates, params["dimension_numbers"]),
        "indices_are_sorted": params["indices_are_sorted"],
        "unique_indices": params["unique_indices"],
        "mode": mode,
        "fill_value": 0 if mode is GatherScatterMode.FILL_OR_DROP else None,
    }


def kept_updates(
    operand: Shape, indices: Any, updates: Shape, params: dict[str, Any]
) -> tuple[Any, Any]:
    """Which elements of the operand a scatter replaces, and which updates it keeps.

    Where updates overlap, which one is kept is up to the backend. So number the updates, scatter
    the numbers, and look which of them are found again at their place.
    """
    count = iota_p.bind(dtype=_INT32, shape=(prod(updates),), dimension=0)
    numbers = reshaped(add_p.bind(count, np.int32(1)), updates)
    written = scatter_p.bind(
        zeros_like_aval(ShapedArray(operand, _INT32)), indices, numbers, **params
    )
    result = gather_p.bind(written, indices, **reading(operand, updates, params))
    return ne_p.bind(written, np.int32(0)), eq_p.bind(result, numbers)
