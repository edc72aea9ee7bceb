"""The format BCSR: matrices by rows, in batches, and with dense axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_core import here

from .base import Array, Batched, register_batched
from .bcoo import operators
from .bcoo.array import BCOO
from .bcoo.axes import bcoo_broadcast_in_dim
from .bcoo.conversions import empty_parts, extracted
from .bcoo.indices import bcoo_sort_indices
from .bcoo.products import bcoo_dot_general
from .bcoo.shaping import bcoo_concatenate
from .csr import row_numbers, row_pointers


class BCSR(Batched):
    """A sparse array: in each batch elements row by row, their columns, and pointers to rows.

    Args:
        args: ``(data, indices, indptr)``: of shapes ``(*batch, nse, *dense)``, ``(*batch, nse)``
            and ``(*batch, rows + 1)``.
        shape: the array's shape: batch axes, then rows and columns, then dense axes.
        indices_sorted: a promise that columns are in order in each row.
        unique_indices: a promise that none occurs twice in a row.

    Raises:
        ValueError: the shapes do not fit together.
    """

    PARTS = ("data", "indices", "indptr")
    indptr: Array

    def __init__(
        self, args: tuple[Any, Any, Any], *, shape: Sequence[int], indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:  # fmt: skip
        self.data, self.indices, self.indptr = map(dnp.asarray, args)
        super().__init__(args, shape=shape)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        n, shapes = self.indices.ndim - 1, [x.shape for x in (self.data, self.indices, self.indptr)]
        rows, dense = self.shape[n : n + 1], self.shape[n + 2 :]
        lengths = self.indices.shape[-1:]
        wanted = [(*lengths, *dense), lengths, tuple(r + 1 for r in rows)]
        batches = [s[:n] for s in shapes]
        if (
            len(self.shape) < n + 2
            or [s[n:] for s in shapes] != wanted
            or any(any(a not in (1, b) for a, b in zip(batch, self.shape)) for batch in batches)
        ):
            raise ValueError(
                f"BCSR: data, indices and indptr of shapes {shapes} do not fit shape "
                f"{self.shape}{here()}; see help(BCSR)."
            )

    @classmethod
    def fromdense(
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32, n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:  # fmt: skip
        """The elements of a dense array that are not zero; see :meth:`BCOO.fromdense`."""
        result = BCOO.fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )
        return cls.from_bcoo(result)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """An array in BCOO format, which has two sparse axes.

        Raises:
            NotImplementedError: it has not.
        """
        if arr.n_sparse != 2:
            raise NotImplementedError(
                f"BCSR has two sparse axes, {arr!r} has {arr.n_sparse}{here()}"
            )
        arr = arr if arr.indices_sorted else bcoo_sort_indices(arr)
        data, indices = arr.full_parts()
        parts = data, indices[..., 1], row_pointers(indices[..., 0], arr.sparse_shape[0])
        return cls(parts, shape=arr.shape, indices_sorted=True, unique_indices=arr.unique_indices)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """A sparse matrix of SciPy, of any format."""
        if n_dense or n_batch:
            raise NotImplementedError(f"BCSR from SciPy with n_dense or n_batch{here()}")
        result = mat.tocsr()
        dtype = index_dtype or dnp.int32
        parts = (
            dnp.asarray(result.indices).astype(dtype),
            dnp.asarray(result.indptr).astype(dtype),
        )
        return cls((dnp.asarray(result.data), *parts), shape=mat.shape)

    @classmethod
    def _empty(
        cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32",
        n_dense: int = 0, n_batch: int = 0, nse: int = 0,
    ) -> BCSR:  # fmt: skip
        parts = empty_parts(shape, dtype, index_dtype, n_dense, n_batch, nse)
        return cls.from_bcoo(BCOO(parts, shape=shape, indices_sorted=True))

    @property
    def nse(self) -> int:
        """The number of stored elements, in each batch."""
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        """The number of batch axes, which come first."""
        return self.indices.ndim - 1

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes: 2."""
        return 2

    @property
    def n_dense(self) -> int:
        """The number of dense axes, which come last."""
        return self.data.ndim - self.indices.ndim

    def to_bcoo(self) -> BCOO:
        """The same array in the format BCOO."""
        rows, n = row_numbers(self.indptr, self.nse), self.n_batch
        batch = dnp.broadcast_shapes(rows.shape[:n], self.indices.shape[:n])
        columns = [dnp.broadcast_to(x, (*batch, self.nse)) for x in (rows, self.indices)]
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return BCOO((self.data, dnp.stack(columns, axis=-1)), shape=self.shape, **flags)

    def todense(self) -> Array:
        """The same array, dense."""
        return self.to_bcoo().todense()

    def transpose(self, *args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: the transpose has another format, by columns."""
        return self._lacks("transpose")

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """The same array with sorted columns, each of which occurs once in a row."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def __matmul__(self, other: Any) -> Any:
        return operators.matmul(self.to_bcoo(), _plain(other))

    def __rmatmul__(self, other: Any) -> Any:
        return operators.matmul(_plain(other), self.to_bcoo())


register_batched(BCSR)


def _plain(x: Any) -> Any:
    return x.to_bcoo() if isinstance(x, BCSR) else x


def bcsr_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
    index_dtype: Any = dnp.int32,
) -> BCSR:  # fmt: skip
    """The elements of a dense array that are not zero; see :meth:`BCSR.fromdense`."""
    return BCSR.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcsr_todense(mat: BCSR) -> Array:
    """The same array, dense."""
    return mat.todense()


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """The same array with sorted columns; see :meth:`BCSR.sum_duplicates`."""
    return mat.sum_duplicates(nse)


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Array:
    """The elements of a dense array at the indices and row pointers of a BCSR."""
    indices, indptr = dnp.asarray(indices), dnp.asarray(indptr)
    rows = row_numbers(indptr, indices.shape[-1])
    return extracted(dnp.stack([rows, indices], axis=-1), dnp.asarray(mat))


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """The array with new axes; see :func:`bcoo_broadcast_in_dim`."""
    return BCSR.from_bcoo(
        bcoo_broadcast_in_dim(
            mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions,
            sharding=sharding,
        )
    )  # fmt: skip


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """Arrays joined along an axis; see :func:`bcoo_concatenate`."""
    return BCSR.from_bcoo(bcoo_concatenate([m.to_bcoo() for m in operands], dimension=dimension))


def bcsr_dot_general(
    lhs: Any, rhs: Any, *, dimension_numbers: Any, precision: None = None,
    preferred_element_type: Any = None, out_sharding: None = None,
) -> Array:  # fmt: skip
    """A contraction with an array in BCSR format; see :func:`bcoo_dot_general`."""
    return bcoo_dot_general(
        _plain(lhs), _plain(rhs), dimension_numbers=dimension_numbers, precision=precision,
        preferred_element_type=preferred_element_type, out_sharding=out_sharding,
    )  # fmt: skip
