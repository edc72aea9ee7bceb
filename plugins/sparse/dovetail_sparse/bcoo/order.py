"""The order of stored elements: sorting them, and adding up those at one place."""

from __future__ import annotations

import operator
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import TracedValueError, here

from ..batches import over_batches
from .places import columns, in_bounds, masked, padded
from .stored import S

Array = Any


def sort_order(indices: Array) -> tuple[Array, Array]:
    """The index vectors of one batch in lexicographic order, and where each of them was."""
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


def starts(indices: Array) -> Array:
    """Which of the sorted index vectors of one batch differ from the one before."""
    nse = indices.shape[0]
    first = dnp.arange(nse) == 0
    if nse < 2 or not indices.shape[-1]:
        return first
    differ = dnp.any(indices[1:] != indices[:-1], axis=-1)
    return first | dnp.concatenate([dnp.zeros((1,), bool), differ])


def first_occurrences(indices: Array, sparse_shape: tuple[int, ...]) -> Array:
    """Which index vectors are in bounds and did not occur before them."""

    def one(indices: Array) -> Array:
        result, order = sort_order(indices)
        return dnp.zeros(indices.shape[:1], bool).at[order].set(starts(result))

    first = over_batches(one, indices.ndim - 2)(indices)
    return first & in_bounds(indices, sparse_shape)


def count_unique(indices: Array, sparse_shape: tuple[int, ...], mask: Array) -> int:
    """The greatest number of different index vectors in a batch, among those of ``mask``.

    Raises:
        ValueError: it is not known while tracing.
    """
    shown = padded(mask, indices, sparse_shape)
    if not sparse_shape:
        first = dnp.any(mask, axis=-1, keepdims=True)
    else:
        first = first_occurrences(shown, sparse_shape)
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
        nse: how many elements to store; the last ones are lost where there are more. By default
            as many as there are, which must be known.
        remove_zeros: whether stored zeros count as padding.
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
        segments = dnp.cumsum(starts(indices), dtype=dnp.int32) - 1
        summed = dnp.zeros((count, *data.shape[1:]), data.dtype)
        summed = summed.at[segments].add(data[order], mode="drop", indices_are_sorted=True)
        beyond = dnp.asarray(sparse_shape, indices.dtype)
        places = dnp.broadcast_to(beyond, (count, len(sparse_shape)))
        return summed, places.at[segments].set(indices, mode="drop", indices_are_sorted=True)

    parts = masked(mask, data), padded(mask, indices, sparse_shape)
    data, indices = over_batches(one, mat.n_batch)(*parts)
    return mat.like(data, indices, sorted=True, unique=True)


def bcoo_sum_duplicates(mat: S, nse: int | None = None) -> S:
    """The same array with sorted indices, each of which occurs once but for padding.

    Args:
        nse: how many elements to store, in each batch; the last ones are lost where there are
            more. By default as many as there are, which must be known: not under ``jit``.

    Raises:
        ValueError: ``nse`` is needed.
    """
    return sum_duplicates(mat, nse, remove_zeros=False)
