"""Where stored elements are: index arrays of axes, and which of them are in bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_numpy as dnp

Array = Any


def columns(indices: Array) -> tuple[Array, ...]:
    """The index arrays of the sparse axes, each of shape ``(*batch, nse)``."""
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


def batch_places(batch_shape: Sequence[int], dtype: Any = None) -> tuple[Array, ...]:
    """Index arrays of the batch axes that broadcast against columns."""
    n = len(batch_shape)
    out: list[Array] = []
    for i, size in enumerate(batch_shape):
        shape = tuple(size if j == i else 1 for j in range(n + 1))
        out.append(dnp.reshape(dnp.arange(size, dtype=dtype or dnp.int32), shape))
    return tuple(out)


def in_bounds(indices: Array, sparse_shape: Sequence[int]) -> Array:
    """Which index vectors are within the sparse axes, of shape ``(*batch, nse)``."""
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


def together(*columns: Array, dtype: Any, shape: Sequence[int]) -> Array:
    """Index vectors of given columns, each broadcast to ``shape``."""
    if not columns:
        return dnp.zeros((*shape, 0), dtype)
    return dnp.stack([dnp.broadcast_to(c, tuple(shape)).astype(dtype) for c in columns], axis=-1)
