"""Arguments of linear algebra: matrices and vectors in one floating-point type; small helpers."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_lax import dtypes
from dovetail_lax.errors import ShapeError

from ..arguments import ArrayLike, inexact_arrays


def matrices(name: str, *args: ArrayLike) -> list[Any]:
    """Arguments as matrices, or stacks of them, of one floating-point type.

    Raises:
        ValueError: one has less than two dimensions.
    """
    result = inexact_arrays(name, *args)
    for i, x in enumerate(result):
        if x.ndim < 2:
            raise ShapeError(
                f"{name} takes matrices, or stacks of them; the argument at position {i} has shape "
                f"{x.shape}{here()}"
            )
    return result


def square(name: str, *args: ArrayLike) -> list[Any]:
    """Arguments as square matrices, or stacks of them, of one floating-point type.

    Raises:
        ValueError: the last two dimensions of one differ.
    """
    result = matrices(name, *args)
    for x in result:
        if x.shape[-1] != x.shape[-2]:
            raise ValueError(f"{name} takes square matrices, got shape {x.shape}{here()}")
    return result


def adjoint(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    return dnp.conj(dnp.matrix_transpose(x)) if x.dtype.kind == "c" else dnp.matrix_transpose(x)


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices, as exactly as the platform can."""
    return dnp.matmul(x, y, precision=lax.Precision.HIGHEST)


def as_complex(x: Any) -> Any:
    """``x`` in the complex type of its precision."""
    return lax.convert_element_type(x, dtypes.promote_types(x.dtype, "complex64"))


def identity_like(x: Any) -> Any:
    """The identity matrix in the element type of ``x``, to be broadcast."""
    return dnp.eye(x.shape[-1], dtype=x.dtype)
