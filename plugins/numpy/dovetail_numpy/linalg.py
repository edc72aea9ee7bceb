"""Linear algebra: ``dovetail.numpy.linalg``."""

from __future__ import annotations

from typing import Any

from dovetail_base.foreign import reword_errors
from dovetail_core import here

from .contraction.matmul import matmul as _matmul
from .contraction.products import (
    cross as _cross,
    outer as _outer,
    tensordot as _tensordot,
    vecdot as vecdot,
)
from .creation.arrays import as_array
from .creation.matrices import diagonal as _diagonal, trace as _trace
from .linear.decompositions import (
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from .linear.determinants import (
    det as det,
    matrix_power as matrix_power,
    multi_dot as multi_dot,
    slogdet as slogdet,
)
from .linear.norms import (
    cond as cond,
    matrix_norm as matrix_norm,
    matrix_rank as matrix_rank,
    norm as norm,
    vector_norm as vector_norm,
)
from .linear.solving import (
    inv as inv,
    lstsq as lstsq,
    pinv as pinv,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
from .manipulation.shapes import matrix_transpose as matrix_transpose
from .operands import Array, ArrayLike, DTypeLike, axis_index

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip
__programs__ = """
cholesky cond det eigh eigvals eigvalsh inv matrix_power matrix_rank norm qr slogdet solve
svd
""".split()


@reword_errors
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The vector product of vectors of three components along an axis.

    Raises:
        ValueError: the axis has another size.
    """
    a, b = as_array("cross", x1), as_array("cross", x2, 1)
    axis_index("cross", axis, a.ndim)
    axis_index("cross", axis, b.ndim)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ValueError(
            f"cross takes vectors of 3 components, got shapes {a.shape} and {b.shape}{here()}"
        )
    return _cross(a, b, axis=axis)


@reword_errors
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of elements of two vectors, as a matrix.

    Raises:
        ValueError: an argument is not a vector.
    """
    a, b = as_array("outer", x1), as_array("outer", x2, 1)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer takes vectors, got shapes {a.shape} and {b.shape}{here()}")
    return _outer(a, b)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices in the last two axes."""
    return _diagonal(x, offset, -2, -1)


@reword_errors
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """The sums of diagonals of matrices in the last two axes."""
    return _trace(x, offset, -2, -1, dtype)


@reword_errors
def matmul(
    x1: ArrayLike, x2: ArrayLike, /, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The matrix product over the last two axes (see ``dovetail.numpy.matmul``)."""
    return _matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


@reword_errors
def tensordot(
    x1: ArrayLike, x2: ArrayLike, /, *, axes: Any = 2, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The sum of products over pairs of axes (see ``dovetail.numpy.tensordot``)."""
    return _tensordot(x1, x2, axes, precision=precision,
                              preferred_element_type=preferred_element_type)  # fmt: skip
