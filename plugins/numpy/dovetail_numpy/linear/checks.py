"""Arguments of linear algebra: matrices in floating point, stacks of matrices, square ones."""

from __future__ import annotations

from typing import Any

from dovetail_core import here

from ..creation.arrays import as_array
from ..operands import ArrayLike, ShapeError
from ..promotion import promote


def matrices(name: str, *args: ArrayLike) -> list[Any]:
    """Arguments as floating-point arrays of at least two dimensions.

    Raises:
        ValueError: one has less than two dimensions.
    """
    arrays = [as_array(name, x, i) for i, x in enumerate(promote(name, *args, inexact=True))]
    for i, x in enumerate(arrays):
        if x.ndim < 2:
            raise ShapeError(
                f"{name} takes matrices, or stacks of them; the argument at position {i} has shape "
                f"{x.shape}{here()}"
            )
    return arrays


def square(name: str, a: ArrayLike) -> Any:
    """An argument as a stack of square matrices.

    Raises:
        ValueError: its last two dimensions differ.
    """
    (x,) = matrices(name, a)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name} takes square matrices, got shape {x.shape}{here()}")
    return x


def transposed(x: Any) -> Any:
    """Matrices transposed."""
    import dovetail_lax as lax

    return lax.transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def adjoint(x: Any) -> Any:
    """Matrices conjugated and transposed."""
    import dovetail_lax as lax

    out = transposed(x)
    return lax.conj(out) if x.dtype.kind == "c" else out
