"""The base class of the formats of single matrices: products, through the format BCOO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from .base import Array, JAXSparse, Partitioned
from .bcoo.array import BCOO
from .bcoo.products import bcoo_dot_general


class Matrix(Partitioned):
    """A sparse matrix made of three arrays, the first of which has the stored elements."""

    def __init__(self, args: Sequence[Any], *, shape: Sequence[int]) -> None:
        if len(shape) != 2:
            raise ValueError(
                f"{type(self).__name__} has two axes, got shape {tuple(shape)}{here()}; BCOO has "
                "any number."
            )
        for name, part in zip(self.PARTS, args):
            setattr(self, name, dnp.asarray(part))
        super().__init__(args, shape=shape)

    @property
    def nse(self) -> int:
        """The number of stored elements."""
        return self.data.size

    def to_bcoo(self) -> BCOO:
        """The same matrix in the format BCOO."""
        raise NotImplementedError

    def todense(self) -> Array:
        """The same matrix, dense."""
        return self.to_bcoo().todense()

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            raise NotImplementedError(
                f"matmul between two sparse matrices of format {type(self).__name__}{here()}; "
                "BCOO has it."
            )
        other = dnp.asarray(other)
        if other.ndim not in (1, 2):
            raise NotImplementedError(
                f"matmul of a {type(self).__name__} and an array of shape {other.shape}{here()}: "
                "it must have one axis or two"
            )
        return product(self, other)

    def _axes(self, axes: Any) -> None:
        if axes is not None and tuple(axes) != (1, 0):
            raise NotImplementedError(
                f"{type(self).__name__}.transpose with axes={axes}{here()}: (1, 0) is there"
            )


def product(mat: Matrix, x: Any, transposed: bool = False) -> Array:
    """The product of a matrix, or of its transpose, with a dense vector or matrix."""
    axis = 0 if transposed else 1
    return bcoo_dot_general(mat.to_bcoo(), x, dimension_numbers=(((axis,), (0,)), ((), ())))


def checked(mat: Any, kind: type[Matrix], x: Any, ndim: int, name: str) -> Any:
    """The dense operand of ``name``, whose first operand is of class ``kind``."""
    x = dnp.asarray(x)
    if not isinstance(mat, kind) or x.ndim != ndim:
        raise TypeError(
            f"{name} takes a {kind.__name__} and an array with {ndim} axes, got "
            f"{type(mat).__name__} and shape {x.shape}{here()}"
        )
    return x
