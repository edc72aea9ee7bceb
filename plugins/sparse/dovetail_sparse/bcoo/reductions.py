"""Sums of arrays in BCOO format along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from .axes import bcoo_broadcast_in_dim, canonical_axes
from .order import bcoo_sum_duplicates
from .places import in_bounds, masked
from .stored import S, Stored


def bcoo_reduce_sum(mat: S, *, axes: Sequence[int]) -> S:
    """The sum along some axes, which is sparse again; nothing is added yet along sparse ones.

    Raises:
        ValueError: an axis is out of bounds, or occurs twice.
    """
    axes = canonical_axes("reduce_sum", tuple(axes), mat.ndim)
    n_batch, n_sparse, _, nse = mat.layout
    data, indices = mat.full_parts()
    dense = tuple(a - n_sparse + 1 for a in axes if a >= n_batch + n_sparse)
    if dense:
        data = dnp.sum(data, axis=dense, dtype=data.dtype)
    kept = [i for i in range(n_sparse) if n_batch + i not in axes]
    if len(kept) < n_sparse:
        data = masked(in_bounds(indices, mat.sparse_shape), data)
        indices = indices[..., dnp.asarray(kept, dnp.int32)] if kept else indices[..., :0]
    stays = [a for a in range(n_batch) if a not in axes]
    goes = [a for a in range(n_batch) if a in axes]
    if goes:
        batch = [mat.shape[a] for a in stays]
        most = nse * math.prod(mat.shape[a] for a in goes)
        order = (*stays, *goes, *range(n_batch, data.ndim))
        data = dnp.reshape(dnp.transpose(data, order), (*batch, most, *data.shape[n_batch + 1 :]))
        order = (*stays, *goes, n_batch, n_batch + 1)
        indices = dnp.reshape(dnp.transpose(indices, order), (*batch, most, len(kept)))
    return mat.like(data, indices, [n for a, n in enumerate(mat.shape) if a not in axes])


def total(
    mat: Stored, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False
) -> Any:
    """The sum along axes, all of them by default: then a dense scalar, otherwise a sparse array."""
    if out is not None:
        raise NotImplementedError(f"sum: the out argument is not supported{here()}")
    axes = tuple(range(mat.ndim)) if axis is None else canonical_axes("sum", axis, mat.ndim)
    wanted = dnp.sum(dnp.zeros((0,), mat.dtype), dtype=dtype).dtype
    converted = mat.with_data(mat.data.astype(wanted))
    result = bcoo_reduce_sum(converted, axes=axes)
    shape = [1 if a in axes else n for a, n in enumerate(mat.shape)]
    if not result.shape:
        scalar = dnp.sum(result.data, dtype=wanted)
        return dnp.reshape(scalar, shape) if keepdims else scalar
    if not keepdims:
        return result
    kept = [a for a in range(mat.ndim) if a not in axes]
    return bcoo_broadcast_in_dim(result, shape=shape, broadcast_dimensions=kept)


def unique(mat: S) -> S:
    """The same array, no place of which is stored twice."""
    return mat if mat.unique_indices else bcoo_sum_duplicates(mat, mat.nse)
