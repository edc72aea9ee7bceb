"""Index vectors of stored elements: their columns and bounds, sorting, adding of duplicates."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import TracedValueError, here

from ..base import Array, over_batches
from .stored import S


def columns(indices: Array) -> tuple[Array, ...]:
    """The index arrays of the sparse axes, each of shape ``(*batch, nse)``."""
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


def batch_indices(batch_shape: Sequence[int], dtype: Any = None) -> tuple[Array, ...]:
    """Index arrays of the batch axes that broadcast against columns."""
    n = len(batch_shape)
    out: list[Array] = []
    for i, size in enumerate(batch_shape):
        shape = tuple(size if j == i else 1 for j in range(n + 1))
        out.append(dnp.reshape(dnp.arange(size, dtype=dtype or dnp.int32), shape))
    return tuple(out)


def in_bounds(indices: Array, sparse_shape: Sequence[int]) -> Array:
    """True where an index vector is within the sparse axes, of shape ``(*batch, nse)``."""
    valid = dnp.ones(indices.shape[:-1], bool)
    for column, size in zip(columns(indices), sparse_shape):
        valid &= (column >= 0) & (column < size)
    return valid


def masked(mask: Array, data: Array) -> Array:
    """``data`` where ``mask``, which has the first axes of ``data``, holds, and 0 elsewhere."""
    mask = dnp.reshape(mask, mask.shape + (1,) * (data.ndim - mask.ndim))
    return dnp.where(mask, data, dnp.zeros((), data.dtype))


def padded(mask: Array, indices: Array, sparse_shape: Sequence[int]) -> Array:
    """``indices`` where ``mask`` holds, and out of bounds elsewhere."""
    beyond = dnp.asarray(tuple(sparse_shape), indices.dtype)
    return dnp.where(mask[..., None], indices, beyond)


def index_vectors(*columns: Array, dtype: Any, shape: Sequence[int]) -> Array:
    """Index vectors of given columns, each broadcast to ``shape``."""
    if not columns:
        return dnp.zeros((*shape, 0), dtype)
    return dnp.stack([dnp.broadcast_to(c, tuple(shape)).astype(dtype) for c in columns], axis=-1)


def sort_order(indices: Array) -> tuple[Array, Array]:
    """The index vectors of one batch in lexicographic order, and their former positions."""
    nse = indices.shape[0]
    numbers = dnp.arange(nse, dtype=dnp.int32)
    if not indices.shape[-1]:
        return indices, numbers
    *result, order = lax.sort((*columns(indices), numbers), num_keys=indices.shape[-1])
    return dnp.stack(result, axis=-1), order


def bcoo_sort_indices(mat: S) -> S:
    """The same array with its index vectors in lexicographic order, in each batch."""

    def one(data: Array, indices: Array) -> tuple[Array, Array]:
        indices, order = sort_order(indices)
        return data[order], indices

    data, indices = over_batches(one, mat.n_batch)(*mat.full_parts())
    return mat.like(data, indices, sorted=True, unique=mat.unique_indices)


def is_new(indices: Array) -> Array:
    """True where one of the sorted index vectors of a batch differs from the one before."""
    nse = indices.shape[0]
    first = dnp.arange(nse) == 0
    if nse < 2 or not indices.shape[-1]:
        return first
    differ = dnp.any(indices[1:] != indices[:-1], axis=-1)
    return first | dnp.concatenate([dnp.zeros((1,), bool), differ])


def first_occurrences(indices: Array, sparse_shape: tuple[int, ...]) -> Array:
    """True where an index vector is in bounds and did not occur before."""

    def one(indices: Array) -> Array:
        result, order = sort_order(indices)
        return dnp.zeros(indices.shape[:1], bool).at[order].set(is_new(result))

    first = over_batches(one, indices.ndim - 2)(indices)
    return first & in_bounds(indices, sparse_shape)


def count_unique(indices: Array, sparse_shape: tuple[int, ...], mask: Array) -> int:
    """The greatest number of different index vectors in a batch, among those of ``mask``.

    Raises:
        ValueError: the indices are traced.
    """
    visible = padded(mask, indices, sparse_shape)
    if not sparse_shape:
        first = dnp.any(mask, axis=-1, keepdims=True)
    else:
        first = first_occurrences(visible, sparse_shape)
    try:
        return int(dnp.max(dnp.sum(first, axis=-1, dtype=int), initial=0))
    except TracedValueError:
        raise ValueError(
            "bcoo_sum_duplicates: nse must be specified when using the function within jit, vmap, "
            f"and other transformations requiring abstract evaluation{here()}"
        ) from None


def sum_duplicates(mat: S, nse: int | None = None, remove_zeros: bool = True) -> S:
    """The same array with sorted indices, each of which occurs once but for padding.

    Args:
        nse: the number of elements to store; further ones are lost. By default as many as there
            are, which needs concrete indices.
        remove_zeros: True if stored zeros count as padding.
    """
    data, indices = mat.full_parts()
    sparse_shape = mat.sparse_shape
    mask = in_bounds(indices, sparse_shape)
    if remove_zeros:
        dense = tuple(range(mat.n_batch + 1, data.ndim))
        mask &= dnp.any(data != 0, axis=dense)
    count = count_unique(indices, sparse_shape, mask) if nse is None else operator.index(nse)

    def one(data: Array, indices: Array) -> tuple[Array, Array]:
        indices, order = sort_order(indices)
        segments = dnp.cumsum(is_new(indices), dtype=dnp.int32) - 1
        summed = dnp.zeros((count, *data.shape[1:]), data.dtype)
        summed = summed.at[segments].add(data[order], mode="drop", indices_are_sorted=True)
        beyond = dnp.asarray(sparse_shape, indices.dtype)
        padding = dnp.broadcast_to(beyond, (count, len(sparse_shape)))
        return summed, padding.at[segments].set(indices, mode="drop", indices_are_sorted=True)

    parts = masked(mask, data), padded(mask, indices, sparse_shape)
    data, indices = over_batches(one, mat.n_batch)(*parts)
    return mat.like(data, indices, sorted=True, unique=True)


def bcoo_sum_duplicates(mat: S, nse: int | None = None) -> S:
    """The same array with sorted indices, each of which occurs once but for padding.

    Args:
        nse: the number of elements to store in each batch; further ones are lost. By default as
            many as there are, which cannot be computed under ``jit``.

    Raises:
        ValueError: ``nse`` is needed.
    """
    return sum_duplicates(mat, nse, remove_zeros=False)


def unique(mat: S) -> S:
    """The same array, no index vector of which is stored twice."""
    return mat if mat.unique_indices else bcoo_sum_duplicates(mat, mat.nse)
