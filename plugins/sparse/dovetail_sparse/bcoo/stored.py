"""Arrays in BCOO format, as functions on them see them: parts, layout, and others like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

import dovetail_numpy as dnp
from dovetail_core import here

from ..base import Array, Batched, broadcast_batches


class Layout(NamedTuple):
    """The number of axes of each kind, in this order, and of stored elements."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


class SparseInfo(NamedTuple):
    """The static attributes of a sparse array.

    Attributes:
        indices_sorted: True if the index vectors are in lexicographic order.
        unique_indices: True if no index vector occurs twice, except padding.
    """

    shape: tuple[int, ...]
    indices_sorted: bool = False
    unique_indices: bool = False


def layout_of(data: Any, indices: Any, shape: Sequence[int]) -> Layout:
    """The layout given by the shapes of ``data`` and ``indices``.

    Raises:
        ValueError: the shapes do not fit together, or do not fit ``shape``.
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
    """Raise unless an array of ``shape`` can have so many batch and dense axes.

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


class Stored(Batched):
    """The parts of an array in BCOO format.

    Elements whose index vector is out of bounds are padding: they are ignored.
    """

    PARTS = ("data", "indices")

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices = args
        self.data, self.indices = dnp.asarray(data), dnp.asarray(indices)
        super().__init__(args, shape=shape)
        self.indices_sorted = bool(indices_sorted)
        layout = self.layout
        # Without sparse axes all elements of a batch have one (empty) index vector.
        self.unique_indices = bool(unique_indices) and (layout.n_sparse > 0 or layout.nse < 2)

    @property
    def layout(self) -> Layout:
        """The numbers of batch, sparse and dense axes."""
        return layout_of(self.data, self.indices, self.shape)

    @property
    def nse(self) -> int:
        """The number of stored elements, in each batch."""
        return self.indices.shape[-2]

    @property
    def n_batch(self) -> int:
        """The number of batch axes, which come first."""
        return self.indices.ndim - 2

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes: the length of an index vector."""
        return self.indices.shape[-1]

    @property
    def n_dense(self) -> int:
        """The number of dense axes, which come last."""
        return self.data.ndim - 1 - self.n_batch

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @property
    def _bufs(self) -> tuple[Array, Array]:
        return self.data, self.indices

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The lengths of the batch axes."""
        return self.shape[: self.n_batch]

    @property
    def sparse_shape(self) -> tuple[int, ...]:
        """The lengths of the sparse axes."""
        return self.shape[self.n_batch : self.n_batch + self.n_sparse]

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The lengths of the dense axes."""
        return self.shape[self.n_batch + self.n_sparse :]

    def full_parts(self) -> tuple[Array, Array]:
        """Data and indices with batch axes of their full length (either may have 1 there)."""
        data, indices = broadcast_batches(self.batch_shape, self.data, self.indices)
        return data, indices

    def like(
        self, data: Any, indices: Any, shape: Sequence[int] | None = None, *, sorted: bool = False,
        unique: bool = False,
    ) -> Self:  # fmt: skip
        """An array of the same class with other parts."""
        return type(self)(
            (data, indices),
            shape=self.shape if shape is None else shape,
            indices_sorted=sorted,
            unique_indices=unique,
        )

    def with_data(self, data: Any, indices: Any = None) -> Self:
        """The same array with other data; flags of the indices are kept."""
        return self.like(
            data, self.indices if indices is None else indices,
            sorted=self.indices_sorted, unique=self.unique_indices,
        )  # fmt: skip


S = TypeVar("S", bound=Stored)
"""A class of arrays that functions take and return."""
