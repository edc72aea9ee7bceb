"""The formats CSR and CSC: stored elements row by row, or column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_tree.util import register_pytree_node

from .base import Array, over_batches
from .bcoo.array import BCOO
from .bcoo.conversions import eye_parts
from .matrices import Matrix, checked, product


def row_numbers(indptr: Array, nse: int) -> Array:
    """The row of each stored element: the number of rows for padding."""

    def one(indptr: Array) -> Array:
        at = dnp.arange(nse, dtype=indptr.dtype)
        return (dnp.searchsorted(indptr, at, side="right") - 1).astype(indptr.dtype)

    return over_batches(one, indptr.ndim - 1)(indptr)


def row_pointers(rows: Array, count: int) -> Array:
    """The positions at which each of ``count`` sorted rows begins, and the last one ends."""

    def one(rows: Array) -> Array:
        at = dnp.arange(count + 1, dtype=rows.dtype)
        return dnp.searchsorted(rows, at, side="left").astype(rows.dtype)

    return over_batches(one, rows.ndim - 1)(rows)


def _parts(data: Array, major: Array, minor: Array, count: int) -> tuple[Array, Array, Array]:
    """Data, indices and pointers; padding has zeros for indices."""
    inside = major < count
    return data, dnp.where(inside, minor, 0), row_pointers(major, count)


class CSR(Matrix):
    """A sparse matrix: elements row by row, their columns, and pointers to rows.

    Args:
        args: ``(data, indices, indptr)``. The elements of row ``i`` are
            ``data[indptr[i]:indptr[i + 1]]``, in the columns ``indices[...]`` there.
        shape: the numbers of rows and columns.

    Elements at the same indices are added. BCSR has batches, BCOO more operations.
    """

    PARTS = ("data", "indices", "indptr")
    indices: Array
    indptr: Array

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
        """The elements of a dense matrix that are not zero; see :meth:`BCOO.fromdense`."""
        result = BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype)
        row, col = result.indices[:, 0], result.indices[:, 1]
        return cls(_parts(result.data, row, col, result.shape[0]), shape=result.shape)

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> CSR:
        pointers = dnp.zeros(shape[0] + 1, index_dtype)
        return cls((dnp.zeros(0, dtype), dnp.zeros(0, index_dtype), pointers), shape=shape)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> CSR:
        data, indices = eye_parts(N, M, k, dtype, index_dtype, 0, 0)
        return cls(_parts(data, indices[:, 0], indices[:, 1], N), shape=(N, M))

    def to_bcoo(self) -> BCOO:
        """The same matrix in the format BCOO."""
        indices = dnp.stack([row_numbers(self.indptr, self.nse), self.indices], axis=-1)
        return BCOO((self.data, indices), shape=self.shape)

    def transpose(self, axes: Any = None) -> CSC:
        """The matrix with rows and columns exchanged, by columns."""
        self._axes(axes)
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


class CSC(Matrix):
    """A sparse matrix: elements column by column, their rows, and pointers to columns.

    Args:
        args: ``(data, indices, indptr)``. The elements of column ``j`` are
            ``data[indptr[j]:indptr[j + 1]]``, in the rows ``indices[...]`` there.
        shape: the numbers of rows and columns.
    """

    PARTS = ("data", "indices", "indptr")
    indices: Array
    indptr: Array

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSC:
        """The elements of a dense matrix that are not zero; see :meth:`BCOO.fromdense`."""
        return CSR.fromdense(dnp.asarray(mat).T, nse=nse, index_dtype=index_dtype).transpose()

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> CSC:
        return CSR._empty(shape[::-1], dtype=dtype, index_dtype=index_dtype).transpose()

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> CSC:
        return CSR._eye(M, N, -k, dtype=dtype, index_dtype=index_dtype).transpose()

    def to_bcoo(self) -> BCOO:
        """The same matrix in the format BCOO."""
        indices = dnp.stack([self.indices, row_numbers(self.indptr, self.nse)], axis=-1)
        return BCOO((self.data, indices), shape=self.shape)

    def transpose(self, axes: Any = None) -> CSR:
        """The matrix with rows and columns exchanged, by rows."""
        self._axes(axes)
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


register_pytree_node(CSR, CSR.tree_flatten, CSR.tree_unflatten)
register_pytree_node(CSC, CSC.tree_flatten, CSC.tree_unflatten)


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """The elements of a dense matrix that are not zero; see :meth:`CSR.fromdense`."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_todense(mat: CSR) -> Array:
    """The same matrix, dense."""
    return mat.todense()


def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> Array:
    """The product of a matrix, or of its transpose, with a vector."""
    return product(mat, checked(mat, CSR, v, 1, "csr_matvec"), transpose)


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Array:
    """The product of a matrix, or of its transpose, with a dense matrix."""
    return product(mat, checked(mat, CSR, B, 2, "csr_matmat"), transpose)
