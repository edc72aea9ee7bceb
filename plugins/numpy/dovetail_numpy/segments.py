"""Reductions of segments: elements of an array that have the same number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_core import here, type_shardings
from dovetail_lax import dtypes

from .creation.arrays import as_array
from .creation.filled import full
from .manipulation.joining import stack
from .operands import Array, ArrayLike, DTypeError, integer
from .promotion import broadcast
from .reductions import basic
from .searching.finding import concrete_value

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _reduction(name: str, doc: str) -> Callable[..., Array]:
    """The public function ``name``; all have the parameters of ``segment_sum``."""

    def reduction(
        data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None,
        indices_are_sorted: bool = False, unique_indices: bool = False,
        bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None,
    ) -> Array:  # fmt: skip
        options = num_segments, indices_are_sorted, unique_indices, bucket_size, mode
        if out_sharding is not None:
            return type_shardings.with_out_sharding(
                out_sharding, _segments, name, data, segment_ids, *options
            )
        return _segments(name, data, segment_ids, *options)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = doc
    return reduction


segment_sum: Callable[..., Array] = _reduction(
    "segment_sum",
    """Sums of the segments of ``data``: row ``i`` of it belongs to segment ``segment_ids[i]``.

    Args:
        segment_ids: integers of shape ``(len(data),)``, in any order. Rows with a number outside of
            ``0 <= i < num_segments`` are left out.
        num_segments: the length of the result; without it one more than the greatest number, which
            must be known while tracing.
        indices_are_sorted, unique_indices: promises about ``segment_ids``.
        bucket_size: rows that are reduced together before the rest, for sums that are more exact.
        mode: how numbers out of bounds are treated (see :meth:`Array.at`).

    Raises:
        TypeError: ``segment_ids`` are no integers.
        ValueError: they are not one for each row, or ``num_segments`` is negative.
    """,
)
segment_prod: Callable[..., Array] = _reduction(
    "segment_prod", "Products of the segments of ``data``; 1 for empty ones (see ``segment_sum``)."
)
segment_max: Callable[..., Array] = _reduction(
    "segment_max",
    "Maxima of the segments of ``data``; the least number of the dtype for empty ones (see "
    ":func:`segment_sum`).",
)
segment_min: Callable[..., Array] = _reduction(
    "segment_min",
    "Minima of the segments of ``data``; the greatest number of the dtype for empty ones (see "
    ":func:`segment_sum`).",
)


_UPDATES = {
    "segment_sum": ("add", basic.sum), "segment_prod": ("multiply", basic.prod),
    "segment_max": ("max", basic.max), "segment_min": ("min", basic.min),
}  # fmt: skip


def _segments(
    name: str, data: Any, segment_ids: Any, num_segments: Any, indices_are_sorted: bool,
    unique_indices: bool, bucket_size: Any, mode: Any,
) -> Array:  # fmt: skip
    x, ids = as_array(name, data), as_array(name, segment_ids, 1)
    x = _rows(name, x, ids)
    count = _count(name, ids, num_segments)
    mode = "drop" if mode is None else mode
    method, reduce = _UPDATES[name]

    def updated(rows: Any, numbers: Any) -> Any:
        out = full((count, *x.shape[1:]), _identity(name, x.dtype), x.dtype)
        return getattr(out.at[numbers], method)(
            rows, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode,
            wrap_negative_indices=False,
        )  # fmt: skip

    if bucket_size is None:
        return updated(x, ids)
    size = integer(name, "bucket_size", bucket_size)
    if size < 1:
        raise ValueError(f"{name}: bucket_size must be at least 1, got {size}{here()}")
    starts = range(0, max(x.shape[0], 1), size)
    parts = [updated(x[i : i + size], ids[i : i + size]) for i in starts]
    return reduce(stack(parts), axis=0).astype(x.dtype)


def _rows(name: str, x: Any, ids: Any) -> Any:
    """The data with a row for each number; one row, or a scalar, is repeated for all of them."""
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{name}: segment_ids must be integers, got dtype {ids.dtype}{here()}")
    if ids.ndim == 1 and x.shape[:1] in ((), (1,)):
        return broadcast(x, (*ids.shape, *x.shape[1:]))
    if ids.shape != x.shape[:1]:
        raise ValueError(
            f"{name}: segment_ids must be one number for each row of data, got shape {ids.shape} "
            f"for data of shape {x.shape}{here()}"
        )
    return x


def _count(name: str, ids: Any, num_segments: Any) -> int:
    if num_segments is None:
        values = concrete_value(name, ids, "Pass num_segments.")
        return int(values.max()) + 1 if values.size else 0
    count = integer(name, "num_segments", num_segments)
    if count < 0:
        raise ValueError(f"{name}: num_segments must not be negative, got {count}{here()}")
    return count


def _identity(name: str, dtype: Any) -> Any:
    if name == "segment_sum":
        return 0
    if name == "segment_prod":
        return 1
    least = name == "segment_max"
    if dtype.kind == "b":
        return not least
    if dtype.kind == "c":
        raise DTypeError(f"{name}: complex numbers have no order{here()}")
    if dtypes.issubdtype(dtype, np.integer):
        return dtypes.iinfo(dtype).min if least else dtypes.iinfo(dtype).max
    return -np.inf if least else np.inf
