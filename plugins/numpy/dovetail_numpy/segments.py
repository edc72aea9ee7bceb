"""Reductions of segments: elements of an array that have the same number."""

from __future__ import annotations

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
from .searching.finding import known

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def segment_sum(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None,
    indices_are_sorted: bool = False, unique_indices: bool = False,
    bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Sums of the segments of ``data``: row ``i`` of it belongs to segment ``segment_ids[i]``.

    Args:
        segment_ids: integers of shape ``(len(data),)``, in any order. Rows with a number outside of
            ``0 <= i < num_segments`` are left out.
        num_segments: the length of the result; without it one more than the greatest number, which
            must be known while tracing.
        indices_are_sorted, unique_indices: promises about ``segment_ids``.
        bucket_size: rows that are reduced together before the rest, for sums that are more exact.
        mode: what becomes of numbers that are out of bounds (see :meth:`Array.at`).

    Raises:
        TypeError: ``segment_ids`` are no integers.
        ValueError: they are not one for each row, or ``num_segments`` is negative.
    """
    given = num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding
    return _segments("segment_sum", data, segment_ids, *given)


def segment_prod(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None,
    indices_are_sorted: bool = False, unique_indices: bool = False,
    bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Products of the segments of ``data``; 1 for empty ones (see :func:`segment_sum`)."""
    given = num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding
    return _segments("segment_prod", data, segment_ids, *given)


def segment_max(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None,
    indices_are_sorted: bool = False, unique_indices: bool = False,
    bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Maxima of the segments of ``data``; the least number of the dtype for empty ones.

    See :func:`segment_sum`.
    """
    given = num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding
    return _segments("segment_max", data, segment_ids, *given)


def segment_min(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None,
    indices_are_sorted: bool = False, unique_indices: bool = False,
    bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Minima of the segments of ``data``; the greatest number of the dtype for empty ones.

    See :func:`segment_sum`.
    """
    given = num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding
    return _segments("segment_min", data, segment_ids, *given)


_UPDATES = {
    "segment_sum": ("add", basic.sum), "segment_prod": ("multiply", basic.prod),
    "segment_max": ("max", basic.max), "segment_min": ("min", basic.min),
}  # fmt: skip


def _segments(
    name: str, data: Any, segment_ids: Any, num_segments: Any, indices_are_sorted: bool,
    unique_indices: bool, bucket_size: Any, mode: Any, out_sharding: Any,
) -> Array:  # fmt: skip
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            _segments,
            name,
            data,
            segment_ids,
            num_segments,
            indices_are_sorted,
            unique_indices,
            bucket_size,
            mode,
            None,
        )
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
    """The data with a row for each number; one row, or a scalar, is there for all of them."""
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
        values = known(name, ids, "Pass num_segments.")
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
