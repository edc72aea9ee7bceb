"""Sparse arrays drawn at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import dovetail_numpy as dnp
import dovetail_random as dr
from dovetail_core import here

from .base import over_batches
from .bcoo.array import BCOO
from .bcoo.stored import check_counts


def random_bcoo(
    key: Any, shape: Sequence[int], *, dtype: Any = float, indices_dtype: Any = None,
    nse: float = 0.2, n_batch: int = 0, n_dense: int = 0, unique_indices: bool = True,
    sorted_indices: bool = False, generator: Callable[..., Any] = dr.uniform, **kwds: Any,
) -> BCOO:  # fmt: skip
    """An array in BCOO format with elements drawn at random, at indices drawn at random.

    Args:
        key: a random key.
        nse: the number of elements to store in each batch; below 1 their share.
        unique_indices: True if no index vector is drawn twice.
        sorted_indices: True if index vectors are in lexicographic order.
        generator: draws the elements, ``generator(key, shape, dtype=dtype, **kwds)``.

    Raises:
        ValueError: the array has fewer elements than ``nse``, or fewer axes than those of a kind.
    """
    shape = tuple(map(int, shape))
    check_counts(n_batch, n_dense, shape)
    end = len(shape) - n_dense
    batch, sparse, dense = shape[:n_batch], shape[n_batch:end], shape[end:]
    size = math.prod(sparse)
    count = math.ceil(nse * size) if 0 < nse < 1 else int(nse)
    if count < 0 or (unique_indices and count > size):
        raise ValueError(f"random_bcoo: nse={nse} of {size} elements{here()}")
    data_key, index_key = dr.split(key)

    def draw_indices(key: Any) -> Any:
        flat = dr.choice(key, size, (count,), replace=not unique_indices)
        result = dnp.unravel_index(dnp.sort(flat) if sorted_indices else flat, sparse)
        columns = [c.astype(indices_dtype or dnp.int32) for c in result]
        empty = dnp.zeros((count, 0), indices_dtype or dnp.int32)
        return dnp.stack(columns, axis=-1) if columns else empty

    keys = dr.split(index_key, batch) if batch else index_key
    indices = over_batches(draw_indices, n_batch)(keys)
    data = generator(data_key, (*batch, count, *dense), dtype=dtype, **kwds)
    return BCOO(
        (data, indices), shape=shape, indices_sorted=sorted_indices, unique_indices=unique_indices
    )
