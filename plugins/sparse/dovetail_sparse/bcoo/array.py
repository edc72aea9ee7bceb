"""``BCOO``: arrays as index vectors and the elements there, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import dovetail_numpy as dnp

from ..base import Array, register_batched
from . import operators
from .axes import bcoo_transpose, total
from .conversions import empty_parts, eye_parts, parts_of_dense, scipy_parts, todense
from .indexing import getitem
from .indices import bcoo_sort_indices, sum_duplicates
from .relayout import bcoo_update_layout
from .shaping import bcoo_reshape
from .stored import Stored


class BCOO(Stored):
    """A sparse array: in each batch a list of index vectors, and the elements at these indices.

    Args:
        args: ``(data, indices)``. ``data`` has shape ``(*batch, nse, *dense)`` and ``indices``
            shape ``(*batch, nse, n_sparse)``; either may have length 1 along a batch axis.
        shape: the array's shape: batch axes, then sparse ones, then dense ones.
        indices_sorted: a promise that index vectors are in lexicographic order.
        unique_indices: a promise that no index vector within bounds occurs twice.

    Elements at the same indices are added; those out of bounds are ignored as padding. An array is
    a pytree of ``data`` and ``indices``, so that all transformations take it, and ``vmap`` maps
    over batch axes.

    Raises:
        ValueError: the shapes do not fit together.
    """

    @classmethod
    def fromdense(
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32, n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:  # fmt: skip
        """The elements of a dense array that are not zero.

        Args:
            nse: the number of elements to store in each batch; further ones are lost. By default as
                many as needed, which needs a concrete ``mat``, not one under ``jit``.
            index_dtype: the dtype of indices.
            n_dense, n_batch: the numbers of axes of these kinds.

        Raises:
            ConcretizationTypeError: ``nse`` is needed.
        """
        args = parts_of_dense(mat, nse, n_batch, n_dense, index_dtype)
        return cls(args, shape=np.shape(mat), indices_sorted=True, unique_indices=True)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """A sparse matrix of SciPy, of any format."""
        return cls(scipy_parts(mat, index_dtype, n_dense, n_batch), shape=mat.shape)

    @classmethod
    def _empty(
        cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32",
        n_dense: int = 0, n_batch: int = 0, nse: int = 0,
    ) -> BCOO:  # fmt: skip
        args = empty_parts(shape, dtype, index_dtype, n_dense, n_batch, nse)
        return cls(args, shape=shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def _eye(
        cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32",
        n_batch: int = 0, n_dense: int = 0,
    ) -> BCOO:  # fmt: skip
        args = eye_parts(N, M, k, dtype, index_dtype, n_batch, n_dense)
        return cls(args, shape=(N, M), indices_sorted=True, unique_indices=True)

    def todense(self) -> Array:
        """The same array, dense."""
        return todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The array with its axes in another order, reversed by default."""
        order = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        return bcoo_transpose(self, permutation=order)

    def sort_indices(self) -> BCOO:
        """The same array with index vectors in lexicographic order."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """The same array with sorted indices, each of which occurs once but for padding.

        Args:
            nse: the number of elements to store in each batch. By default as many as there are,
                which cannot be computed under ``jit``.
            remove_zeros: True if stored zeros count as padding.
        """
        return sum_duplicates(self, nse, remove_zeros)

    def update_layout(
        self, *, n_batch: int | None = None, n_dense: int | None = None,
        on_inefficient: str = "error",
    ) -> BCOO:  # fmt: skip
        """The same array with other numbers of batch and dense axes.

        See :func:`bcoo_update_layout`.
        """
        return bcoo_update_layout(
            self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient
        )

    def astype(self, dtype: Any) -> BCOO:
        """The same array in another dtype."""
        return operators.converted(self, dtype)

    def reshape(self, *args: Any, **kwargs: Any) -> BCOO:
        """The array in another shape, one length of which may be -1."""
        given = args[0] if len(args) == 1 and np.ndim(args[0]) else args
        sizes = np.broadcast_to(np.False_, self.shape).reshape(given, **kwargs).shape
        return bcoo_reshape(self, new_sizes=sizes)

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """The sum along axes, ``sum(axis=None, dtype=None, out=None, keepdims=False)``.

        Of all elements it is a dense scalar, otherwise a sparse array.
        """
        return total(self, *args, **kwargs)

    def __getitem__(self, item: Any) -> BCOO:
        return getitem(self, item)

    def __iter__(self) -> Iterator[BCOO]:
        return iter([self[i] for i in range(len(self))])

    def __neg__(self) -> BCOO:
        return operators.negative(self)

    def __pos__(self) -> BCOO:
        return self

    def __abs__(self) -> BCOO:
        return operators.absolute(self)

    def __add__(self, other: Any) -> Any:
        return operators.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return operators.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return operators.rsubtract(self, other)

    def __mul__(self, other: Any) -> Any:
        return operators.multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return operators.divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operators.rdivide(self, other)

    def __pow__(self, other: Any) -> Any:
        return operators.power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return operators.rpower(self, other)

    def __matmul__(self, other: Any) -> Any:
        return operators.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return operators.matmul(other, self)

    def __eq__(self, other: Any) -> Any:
        return operators.equal(self, other)

    __hash__ = None  # type: ignore[assignment]


register_batched(BCOO)


def bcoo_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
    index_dtype: Any = dnp.int32,
) -> BCOO:  # fmt: skip
    """The elements of a dense array that are not zero; see :meth:`BCOO.fromdense`."""
    return BCOO.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcoo_todense(mat: Stored) -> Array:
    """The same array, dense."""
    return todense(mat)
