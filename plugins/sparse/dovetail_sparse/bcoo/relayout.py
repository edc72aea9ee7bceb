"""The same array with other kinds of axes: batched, sparse or dense."""

from __future__ import annotations

import math
import warnings
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from ..base import SparseEfficiencyError, SparseEfficiencyWarning
from .indices import batch_indices, columns, index_vectors, masked
from .stored import S, Stored, check_counts


def bcoo_update_layout(
    mat: S,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> S:
    """The same array with other numbers of batch and dense axes.

    With fewer of them, the elements along an axis are stored one by one. With more of them, every
    stored element is stored once for each index along the axis, and is zero except at one.

    Args:
        n_batch, n_dense: as in ``mat`` by default.
        on_inefficient: the reaction if axes become batched or dense: ``"error"``, ``"warn"``, or
            None for nothing.

    Raises:
        SparseEfficiencyError: storage would become inefficient.
        ValueError: there are not so many axes.
    """
    batch = mat.n_batch if n_batch is None else int(n_batch)
    dense = mat.n_dense if n_dense is None else int(n_dense)
    check_counts(batch, dense, mat.shape)
    if (batch, dense) == (mat.n_batch, mat.n_dense):
        return mat
    if dense > mat.n_dense:
        _inefficient(mat, "n_dense", mat.n_dense, dense, on_inefficient)
    if batch > mat.n_batch:
        _inefficient(mat, "n_batch", mat.n_batch, batch, on_inefficient)
    if dense < mat.n_dense:
        mat = _dense_to_sparse(mat, mat.n_dense - dense)
    if batch < mat.n_batch:
        mat = batch_to_sparse(mat, mat.n_batch - batch)
    if dense > mat.n_dense:
        mat = _sparse_to_dense(mat, dense - mat.n_dense)
    if batch > mat.n_batch:
        mat = _sparse_to_batch(mat, batch - mat.n_batch)
    return mat


def _inefficient(mat: Stored, what: str, old: int, new: int, action: str | None) -> None:
    text = (
        f"For matrix of shape {mat.shape}, increasing {what} from {old} to {new} results in "
        "inefficient storage."
    )
    if action == "error":
        raise SparseEfficiencyError(
            f"{text} To allow it, pass on_inefficient='warn' or None to bcoo_update_layout{here()}."
        )
    if action == "warn":
        warnings.warn(text, SparseEfficiencyWarning, stacklevel=4)


def _dense_to_sparse(mat: S, count: int) -> S:
    """The first ``count`` dense axes as the last sparse ones."""
    data, indices = mat.full_parts()
    sizes = mat.dense_shape[:count]
    batch, nse = mat.batch_shape, mat.nse
    positions = batch_indices(sizes, indices.dtype)  # each of shape (..., size, ..., 1)
    spread = (*batch, nse, *sizes)
    old = [dnp.reshape(c, (*c.shape, *[1] * count)) for c in columns(indices)]
    new = [dnp.squeeze(p, -1) for p in positions]
    vectors = index_vectors(*old, *new, dtype=indices.dtype, shape=spread)
    flat = (*batch, nse * math.prod(sizes))
    return mat.like(
        dnp.reshape(data, (*flat, *mat.dense_shape[count:])),
        dnp.reshape(vectors, (*flat, mat.n_sparse + count)),
        unique=mat.unique_indices,
    )


def batch_to_sparse(mat: S, count: int) -> S:
    """The last ``count`` batch axes as the first sparse ones."""
    data, indices = mat.full_parts()
    batch, sizes = mat.batch_shape[: mat.n_batch - count], mat.batch_shape[mat.n_batch - count :]
    positions = batch_indices(sizes, indices.dtype)
    spread = (*batch, *sizes, mat.nse)
    vectors = index_vectors(*positions, *columns(indices), dtype=indices.dtype, shape=spread)
    flat = (*batch, math.prod(sizes) * mat.nse)
    return mat.like(
        dnp.reshape(data, (*flat, *mat.dense_shape)),
        dnp.reshape(vectors, (*flat, mat.n_sparse + count)),
        unique=mat.unique_indices,
    )


def _sparse_to_batch(mat: S, count: int) -> S:
    """The first ``count`` sparse axes as the last batch ones."""
    data, indices = mat.full_parts()
    sizes, n_batch = mat.sparse_shape[:count], mat.n_batch
    batch = (*mat.batch_shape, *sizes)
    result = [dnp.reshape(c, (*mat.batch_shape, *[1] * count, mat.nse)) for c in columns(indices)]
    here_ = dnp.ones((*batch, mat.nse), bool)
    for column, position in zip(result, batch_indices(sizes, indices.dtype)):
        here_ &= column == position
    vectors = index_vectors(*result[count:], dtype=indices.dtype, shape=(*batch, mat.nse))
    data = dnp.expand_dims(data, tuple(range(n_batch, n_batch + count)))
    data = dnp.broadcast_to(data, (*batch, mat.nse, *mat.dense_shape))
    return mat.like(masked(here_, data), vectors)


def _sparse_to_dense(mat: S, count: int) -> S:
    """The last ``count`` sparse axes as the first dense ones."""
    data, indices = mat.full_parts()
    kept = mat.n_sparse - count
    sizes = mat.sparse_shape[kept:]
    spread = (*mat.batch_shape, mat.nse, *sizes)
    result: Any = [dnp.reshape(c, (*c.shape, *[1] * count)) for c in columns(indices)[kept:]]
    here_ = dnp.ones(spread, bool)
    for column, position in zip(result, batch_indices(sizes, indices.dtype)):
        here_ &= column == dnp.squeeze(position, -1)
    first = mat.n_batch + 1
    data = dnp.expand_dims(data, tuple(range(first, first + count)))
    data = dnp.broadcast_to(data, (*spread, *mat.dense_shape))
    return mat.like(masked(here_, data), indices[..., :kept])
