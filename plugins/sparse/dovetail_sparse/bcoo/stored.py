"""Arrays in BCOO format, as functions on them see them: parts, layout, and others like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

import dovetail_numpy as dnp

from ..base import Array, JAXSparse
from ..batches import broadcast_batches
from .layout import Layout, SparseInfo, layout_of


class Stored(JAXSparse):
    """The parts of an array in BCOO format.

    Elements whose index vector is out of bounds are padding: they are ignored.
    """

    indices: Array
    indices_sorted: bool
    unique_indices: bool

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
        # Without sparse axes all elements of a batch are at one place.
        self.unique_indices = bool(unique_indices) and (layout.n_sparse > 0 or layout.nse < 2)

    @property
    def layout(self) -> Layout:
        """How many axes are batched, sparse and dense."""
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
        """The same with other data; what is known of the indices stays."""
        return self.like(
            data, self.indices if indices is None else indices,
            sorted=self.indices_sorted, unique=self.unique_indices,
        )  # fmt: skip

    def _details(self) -> str:
        counts = {"n_batch": self.n_batch, "n_dense": self.n_dense}
        return ", ".join(f"{name}={n}" for name, n in counts.items() if n)

    def tree_flatten(self) -> tuple[tuple[Array, Array], dict[str, Any]]:
        """Data and indices, and what is known of them."""
        return (self.data, self.indices), self._info._asdict()

    @classmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> Self:
        """The array from its parts, which may be anything: nothing is checked."""
        made = object.__new__(cls)
        made.data, made.indices = children
        for name, value in aux_data.items():
            setattr(made, name, value)
        return made


S = TypeVar("S", bound=Stored)
"""What functions take and return: arrays of the same class."""
