"""Samples of what orders elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_testing import Sample

from ..primitives.sorting import approx_top_k_p, sort_p, top_k_p
from .kinds import awkward
from .reductions import EMPTY, EXTREME, FLOATS, INTEGERS, TIES, spaced, ties


def _sort() -> Iterator[Sample]:
    params: dict[str, Any] = {"dimension": 1, "is_stable": True, "num_keys": 1}
    for dtype in (*FLOATS, *INTEGERS, "bool"):
        yield Sample(sort_p, (spaced("sort", (2, 5), dtype),), params)
    x = spaced("sort", (3, 4), "float32")
    several = (x, spaced("other", (3, 4), "float32"), np.arange(12, dtype="int32").reshape(3, 4))
    yield Sample(sort_p, several, {**params, "dimension": 0})
    by_two = {"dimension": 1, "is_stable": True, "num_keys": 2}
    yield Sample(sort_p, (ties(), several[2][:, ::-1], x), by_two, TIES, name="two keys")
    yield Sample(sort_p, (ties(), several[2]), params, TIES, name="ties")
    yield Sample(sort_p, (x[:, :0],), params, EMPTY)
    yield Sample(sort_p, (x[:0],), params, EMPTY)
    for dtype in ("float32", "bfloat16", "complex64", "int32", "uint8"):
        values = np.concatenate([awkward(dtype).reshape(-1)] * 2)
        result = {"dimension": 0, "is_stable": True, "num_keys": 1}
        order = np.arange(values.size, dtype=np.int32)
        yield Sample(sort_p, (values, order), result, EXTREME)


def _largest() -> Iterator[Sample]:
    for dtype in (*FLOATS[:3], *INTEGERS, "bool"):
        tags = TIES if dtype == "bool" else frozenset()
        yield Sample(top_k_p, (spaced("top_k", (2, 5), dtype),), {"k": 3, "axis": 1}, tags)
    x = spaced("top_k", (4, 3), "float32")
    yield Sample(top_k_p, (x,), {"k": 2, "axis": 0})
    yield Sample(top_k_p, (x,), {"k": 0, "axis": 1}, EMPTY)
    yield Sample(top_k_p, (ties(),), {"k": 4, "axis": 1}, TIES, name="ties")
    yield Sample(top_k_p, (awkward("float32"),), {"k": 11, "axis": 0}, EXTREME)
    for largest in (True, False):
        for aggregate in (True, False):
            params = {
                "k": 2, "reduction_dimension": 1, "recall_target": 0.95, "is_max_k": largest,
                "reduction_input_size_override": -1, "aggregate_to_topk": aggregate,
            }  # fmt: skip
            yield Sample(approx_top_k_p, (spaced("approx", (2, 5), "float32"),), params)


def samples() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _sort()
    yield from _largest()
