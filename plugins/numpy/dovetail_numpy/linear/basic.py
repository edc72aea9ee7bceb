"""The trace of matrices."""

from __future__ import annotations

from typing import Any

from ..creation.matrices import diagonal
from ..operands import Array, ArrayLike, DTypeLike, no_out
from ..reductions.basic import sum as total


def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None,
    out: Any = None,
) -> Array:  # fmt: skip
    """The sum along a diagonal of two axes.

    Raises:
        ValueError: ``a`` has less than two dimensions.
    """
    no_out("trace", out)
    return total(diagonal(a, offset, axis1, axis2), -1, dtype)
