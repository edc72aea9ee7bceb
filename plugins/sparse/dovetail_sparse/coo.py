"""The format COO: stored elements, and the row and column of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_tree.util import register_pytree_node

from .base import Array
from .bcoo.array import BCOO
from .bcoo.conversions import eye_parts
from .matrices import Matrix, checked, product


class COO(Matrix):
    """A sparse matrix: elements, and the row and column of each. BCOO has more operations.

    Args:
        args: ``(data, row, col)``, three vectors of one length.
        shape: the numbers of rows and columns.
        rows_sorted: a promise that rows do not decrease, and columns within a row neither.
        cols_sorted: the same with rows and columns exchanged.

    Elements at the same indices are added.
    """

    PARTS = ("data", "row", "col")
    STATIC = ("shape", "rows_sorted", "cols_sorted")
    row: Array
    col: Array

    def __init__(
        self, args: tuple[Any, Any, Any], *, shape: Sequence[int], rows_sorted: bool = False,
        cols_sorted: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(args, shape=shape)
        self.rows_sorted, self.cols_sorted = bool(rows_sorted), bool(cols_sorted)

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
        """The elements of a dense matrix that are not zero; ``nse`` as of :meth:`BCOO.fromdense`.

        Padding is zeros at indices 0, 0.
        """
        result = BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype)
        inside = result.indices[:, 0] < result.shape[0]
        row, col = (dnp.where(inside, result.indices[:, i], 0) for i in range(2))
        return cls((result.data, row, col), shape=result.shape, rows_sorted=True)

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> COO:
        parts = dnp.zeros(0, dtype), *[dnp.zeros(0, index_dtype) for _ in range(2)]
        return cls(parts, shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> COO:
        data, indices = eye_parts(N, M, k, dtype, index_dtype, 0, 0)
        parts = data, indices[:, 0], indices[:, 1]
        return cls(parts, shape=(N, M), rows_sorted=True, cols_sorted=True)

    def to_bcoo(self) -> BCOO:
        """The same matrix in the format BCOO."""
        indices = dnp.stack([self.row, self.col], axis=-1)
        return BCOO((self.data, indices), shape=self.shape, indices_sorted=self.rows_sorted)

    def transpose(self, axes: Any = None) -> COO:
        """The matrix with rows and columns exchanged."""
        self._axes(axes)
        return COO(
            (self.data, self.col, self.row), shape=self.shape[::-1],
            rows_sorted=self.cols_sorted, cols_sorted=self.rows_sorted,
        )  # fmt: skip


register_pytree_node(COO, COO.tree_flatten, COO.tree_unflatten)


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = dnp.int32) -> COO:
    """The elements of a dense matrix that are not zero; see :meth:`COO.fromdense`."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO) -> Array:
    """The same matrix, dense."""
    return mat.todense()


def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> Array:
    """The product of a matrix, or of its transpose, with a vector."""
    return product(mat, checked(mat, COO, v, 1, "coo_matvec"), transpose)


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Array:
    """The product of a matrix, or of its transpose, with a dense matrix."""
    return product(mat, checked(mat, COO, B, 2, "coo_matmat"), transpose)
