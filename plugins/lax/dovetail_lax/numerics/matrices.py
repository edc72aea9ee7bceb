"""Products, adjoints and triangles of batches of matrices, for rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import ShapedArray

from ..primitives.arithmetic import add_p
from ..primitives.contractions import Precision, dot_general_p
from ..primitives.discrete import eq_p, ge_p
from ..primitives.reductions import reduce_sum_p
from ..primitives.shape import broadcast_in_dim_p, transpose_p
from ..primitives.values import (
    complex_p,
    conj_p,
    convert_element_type_p,
    iota_p,
    real_p,
    select_n_p,
)
from ..scalars import scalar

_INDEX = np.dtype(np.int32)
_EXACT = (Precision.HIGHEST, Precision.HIGHEST)


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices in the last two axes, as exactly as the platform can."""
    n = len(x.shape)
    batch = tuple(range(n - 2))
    return dot_general_p.bind(
        x,
        y,
        dimension_numbers=(((n - 1,), (n - 2,)), (batch, batch)),
        precision=_EXACT,
        preferred_element_type=None,
    )


def transposed_matrix(x: Any) -> Any:
    """The transpose of each matrix."""
    n = len(x.shape)
    return transpose_p.bind(x, permutation=(*range(n - 2), n - 1, n - 2))


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    y = transposed_matrix(x)
    return conj_p.bind(y) if x.dtype.kind == "c" else y


def _below(x: Any, diagonal: int) -> Any:
    """True on and below a diagonal, in the shape of ``x``."""
    rows, columns = _row_and_column(x)
    return ge_p.bind(add_p.bind(rows, np.int32(diagonal)) if diagonal else rows, columns)


def _row_and_column(x: Any) -> tuple[Any, Any]:
    """The row and the column of each element."""
    shape: tuple[int, ...] = x.shape
    n = len(shape)
    return tuple([iota_p.bind(dtype=_INDEX, shape=shape, dimension=i) for i in (n - 2, n - 1)])  # type: ignore[return-value]


def lower(x: Any, diagonal: int = 0) -> Any:
    """The part of each matrix on and below a diagonal."""
    return select_n_p.bind(_below(x, diagonal), scalar(0, x.dtype), x)


def upper(x: Any, diagonal: int = 0) -> Any:
    """The part of each matrix on and above a diagonal."""
    return select_n_p.bind(_below(x, diagonal - 1), x, scalar(0, x.dtype))


def on_diagonal(x: Any) -> Any:
    """True on the diagonal, in the shape of ``x``."""
    return eq_p.bind(*_row_and_column(x))


def identity(shape: tuple[int, ...], dtype: Any) -> Any:
    """Ones on the diagonals of matrices, zeros elsewhere."""
    same = on_diagonal(ShapedArray(shape, dtype))
    return convert_element_type_p.bind(same, new_dtype=dtype, weak_type=False)


def on_columns(row: Any, shape: tuple[int, ...]) -> Any:
    """One number per column, for all rows of matrices of ``shape``."""
    n = len(shape)
    dims = (*range(n - 2), n - 1)
    return broadcast_in_dim_p.bind(row, shape=shape, broadcast_dimensions=dims)


def on_rows(column: Any, shape: tuple[int, ...]) -> Any:
    """One number per row, for all columns of matrices of ``shape``."""
    n = len(shape)
    return broadcast_in_dim_p.bind(column, shape=shape, broadcast_dimensions=tuple(range(n - 1)))


def diagonal(x: Any) -> Any:
    """The diagonal of each square matrix."""
    only = select_n_p.bind(on_diagonal(x), scalar(0, x.dtype), x)
    return reduce_sum_p.bind(only, axes=(len(x.shape) - 1,))


def hermitian(x: Any, from_lower: bool) -> Any:
    """The Hermitian matrices of which one triangle is that of ``x``."""
    part = lower(x, -1) if from_lower else upper(x, 1)
    middle = select_n_p.bind(on_diagonal(x), scalar(0, x.dtype), x)
    if x.dtype.kind == "c":
        real = real_p.bind(middle)
        middle = complex_p.bind(real, scalar(0.0, real.dtype))
    return add_p.bind(add_p.bind(part, adjoint(part)), middle)
