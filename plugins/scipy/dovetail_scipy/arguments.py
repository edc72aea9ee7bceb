"""Arguments of public functions: arrays, and the element type in which they meet."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp
from dovetail_numpy import operands, promotion

Array = Any
ArrayLike = Any


def array(name: str, x: ArrayLike, position: int = 0) -> Array:
    """``x`` as an array or tracer.

    Raises:
        TypeError: it is no array and no number; names the function and the position.
    """
    return dnp.asarray(operands.operand(name, x, position))


def inexact(name: str, *xs: ArrayLike) -> list[Array]:
    """Arguments as arrays of their common type, integers in floating point; shapes as they are.

    Raises:
        TypeError: one is no array and no number.
    """
    return [dnp.asarray(v) for v in promotion.promote(name, *xs, inexact=True)]
