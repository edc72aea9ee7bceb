"""Conversions to the BCOO format and from it, and the parts of special arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_core import TracedValueError, here

from ..base import Array, over_batches
from .indices import batch_indices, columns, first_occurrences, masked
from .stored import S, Stored, check_counts


def todense(mat: Stored) -> Array:
    """The dense array: duplicates are added, padding is left out."""
    if not mat.n_sparse:
        total = dnp.sum(mat.data, axis=mat.n_batch, dtype=mat.dtype)
        return dnp.broadcast_to(total, mat.shape)
    data, indices = mat.full_parts()
    positions = (*batch_indices(mat.batch_shape), *columns(indices))
    zeros = dnp.zeros(mat.shape, mat.dtype)
    return zeros.at[positions].add(data, mode="drop", indices_are_sorted=mat.indices_sorted)


def stored_count(mask: Array, n_batch: int, n_dense: int) -> int:
    """The greatest number of elements that a batch has to store.

    Raises:
        TracedValueError: it is not known while tracing.
    """
    sparse = tuple(range(n_batch, mask.ndim))
    try:
        return int(dnp.max(dnp.sum(mask, axis=sparse, dtype=int), initial=0))
    except TracedValueError as e:
        raise type(e)(
            "the number of stored elements is not known in a function that is traced"
            f"{here()}: pass nse to bcoo_fromdense or BCOO.fromdense. ({e})"
        ) from None


def parts_of_dense(
    mat: Any, nse: int | None, n_batch: int, n_dense: int, index_dtype: Any
) -> tuple[Array, Array]:
    """Data and indices of the elements of a dense array that are not zero."""
    mat = dnp.asarray(mat)
    check_counts(n_batch, n_dense, mat.shape)
    dense = tuple(range(mat.ndim - n_dense, mat.ndim))
    mask = dnp.any(mat != 0, axis=dense)
    count = stored_count(mask, n_batch, n_dense) if nse is None else operator.index(nse)
    if count < 0:
        raise ValueError(f"nse must be non-negative, got {count}{here()}")

    def one(mask: Array) -> Array:
        if not mask.ndim:
            return dnp.zeros((count, 0), index_dtype)
        result = dnp.nonzero(mask, size=count, fill_value=mask.shape)
        return dnp.stack(result, axis=-1).astype(index_dtype)

    indices = over_batches(one, n_batch)(mask)
    if mask.ndim > n_batch:
        return extracted(indices, mat), indices
    data = dnp.expand_dims(mat, n_batch)
    spread = (*mask.shape, count, *mat.shape[n_batch:])
    first = np.arange(count) == 0
    return masked(
        dnp.broadcast_to(first, spread[: n_batch + 1]), dnp.broadcast_to(data, spread)
    ), indices


def extracted(indices: Array, mat: Array) -> Array:
    """The elements of a dense array at index vectors; 0 at those that are out of bounds."""
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    if not n_sparse:
        spread = (*mat.shape[:n_batch], indices.shape[-2], *mat.shape[n_batch:])
        return dnp.broadcast_to(dnp.expand_dims(mat, n_batch), spread)
    positions = (*batch_indices(mat.shape[:n_batch]), *columns(indices))
    return mat.at[positions].get(mode="fill", fill_value=0)


def bcoo_extract(sparr: S, arr: Any, *, assume_unique: bool | None = None) -> S:
    """The elements of a dense array at the indices that a sparse one stores.

    Args:
        assume_unique: True to assume that no index vector is stored twice; otherwise an element
            goes to the first of equal index vectors, so that the result has the values of ``arr``.
            By default ``sparr.unique_indices``.

    Raises:
        ValueError: the shapes differ.
    """
    if not isinstance(sparr, Stored):
        raise TypeError(
            "First argument to bcoo_extract should be a BCOO array. Got "
            f"type(sparr)={type(sparr)}{here()}"
        )
    arr = dnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"shape mismatch: sparr.shape={sparr.shape} a.shape={arr.shape}{here()}")
    data = extracted(sparr.indices, arr)
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    if not unique:
        data = masked(first_occurrences(sparr.indices, sparr.sparse_shape), data)
    return sparr.with_data(data)


def empty_parts(
    shape: Sequence[int], dtype: Any, index_dtype: Any, n_dense: int, n_batch: int, nse: int
) -> tuple[Array, Array]:
    """Data and indices of padding only."""
    shape = tuple(map(int, shape))
    check_counts(n_batch, n_dense, shape)
    batch, dense = shape[:n_batch], shape[len(shape) - n_dense :]
    sparse = shape[n_batch : len(shape) - n_dense]
    data = dnp.zeros((*batch, nse, *dense), dtype)
    beyond = dnp.asarray(sparse, index_dtype)
    return data, dnp.broadcast_to(beyond, (*batch, nse, len(sparse)))


def eye_parts(
    rows: int, cols: int, k: int, dtype: Any, index_dtype: Any, n_batch: int, n_dense: int
) -> tuple[Array, Array]:
    """Data and indices of ones on the diagonal ``k`` of a matrix."""
    check_counts(n_batch, n_dense, (rows, cols))
    row = np.arange(rows)
    col = row + k
    inside = (col >= 0) & (col < cols)
    if n_batch + n_dense == 0:
        positions = np.stack([row[inside], col[inside]], axis=-1)
        return dnp.ones(len(positions), dtype), dnp.asarray(positions, index_dtype)
    matrix = np.eye(rows, cols, k)
    if (n_batch, n_dense) == (1, 0):
        data, positions = inside[:, None], np.where(inside, col, cols)[:, None, None]
    elif (n_batch, n_dense) == (0, 1):
        data, positions = matrix[inside], row[inside][:, None]
    elif (n_batch, n_dense) == (1, 1):
        data, positions = matrix[:, None], np.zeros((rows, 1, 0))
    elif n_batch == 2:
        data, positions = matrix[:, :, None], np.zeros((rows, cols, 1, 0))
    else:
        data, positions = matrix[None], np.zeros((1, 0))
    wanted = dnp.zeros((), dtype).dtype
    return dnp.asarray(data, wanted), dnp.asarray(positions, index_dtype)


def scipy_parts(mat: Any, index_dtype: Any, n_dense: int, n_batch: int) -> tuple[Array, Array]:
    """Data and indices of a sparse matrix of SciPy."""
    if n_dense or n_batch:
        raise NotImplementedError(f"BCOO.fromscipy with nonzero n_dense/n_batch{here()}")
    result = mat.tocoo()
    positions = np.stack([result.row, result.col], axis=-1)
    return dnp.asarray(result.data), dnp.asarray(positions).astype(index_dtype or dnp.int32)
