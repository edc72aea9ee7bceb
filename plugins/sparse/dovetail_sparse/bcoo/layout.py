"""Which axes of an array in BCOO format are batched, sparse and dense, and whether parts fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_core import here


class Layout(NamedTuple):
    """How many axes are of each kind, in this order, and how many elements are stored."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


class SparseInfo(NamedTuple):
    """What is known of a sparse array beside its parts.

    Attributes:
        indices_sorted: whether the index vectors are in lexicographic order.
        unique_indices: whether no index vector occurs twice, but for padding.
    """

    shape: tuple[int, ...]
    indices_sorted: bool = False
    unique_indices: bool = False


def layout_of(data: Any, indices: Any, shape: Sequence[int]) -> Layout:
    """The layout that the shapes of ``data`` and ``indices`` say.

    Raises:
        ValueError: they do not fit together, or not the shape; says which.
        TypeError: the indices are no integers.
    """
    shape = tuple(shape)
    if np.ndim(indices) < 2:
        raise ValueError(
            f"BCOO: indices must have at least two axes (..., nse, n_sparse), got shape "
            f"{tuple(indices.shape)}{here()}"
        )
    if indices.dtype.kind not in "iu" and indices.dtype.names is None and indices.dtype.kind != "V":
        raise TypeError(f"BCOO: indices must be integers, got {indices.dtype}{here()}")
    nse, n_sparse = indices.shape[-2:]
    n_batch = indices.ndim - 2
    n_dense = len(shape) - n_batch - n_sparse
    layout = Layout(n_batch, n_sparse, n_dense, nse)
    _check(data, indices, shape, layout)
    return layout


def _check(data: Any, indices: Any, shape: tuple[int, ...], layout: Layout) -> None:
    n_batch, n_sparse, n_dense, nse = layout
    if n_dense < 0:
        raise ValueError(
            f"Invalid indices.shape={tuple(indices.shape)} for shape={shape}{here()}: its "
            f"{n_batch} batch axes and index vectors of length {n_sparse} are more axes than the "
            "array has."
        )
    wanted = (nse, *shape[n_batch + n_sparse :])
    if tuple(data.shape[n_batch:]) != wanted or not _batches_fit(data.shape, shape[:n_batch]):
        raise ValueError(
            f"Invalid data.shape={tuple(data.shape)} for nse={nse}, n_batch={n_batch}, "
            f"n_dense={n_dense}{here()}: the array has shape {shape}, so data should have shape "
            f"{(*shape[:n_batch], *wanted)}."
        )
    if not _batches_fit(indices.shape, shape[:n_batch]):
        raise ValueError(
            f"Invalid indices.shape={tuple(indices.shape)} for nse={nse}, n_batch={n_batch}, "
            f"n_dense={n_dense}{here()}: the array has shape {shape}, so indices should have shape "
            f"{(*shape[:n_batch], nse, n_sparse)}."
        )


def _batches_fit(result: Sequence[int], wanted: Sequence[int]) -> bool:
    return len(result) >= len(wanted) and all(f in (1, w) for f, w in zip(result, wanted))


def check_counts(n_batch: int, n_dense: int, shape: tuple[int, ...]) -> None:
    """That an array of ``shape`` can have so many batch and dense axes.

    Raises:
        ValueError: it cannot.
    """
    for name, n in (("n_batch", n_batch), ("n_dense", n_dense)):
        if n < 0:
            raise ValueError(f"{name} must be non-negative; got {n}{here()}")
    if n_batch + n_dense > len(shape):
        raise ValueError(
            f"sum of n_batch={n_batch} and n_dense={n_dense} cannot be larger than the number of "
            f"axes, which is {len(shape)}{here()}"
        )
