"""``softmax`` and its logarithm, by default over all axes, as SciPy has them."""

from __future__ import annotations

from typing import Any

import dovetail_nn as nn

from .evaluation import Array, ArrayLike

Axis = Any


def softmax(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """``exp(x)`` over its sum along ``axis``: one axis, several of them, or None for all."""
    return nn.softmax(x, axis=axis)


def log_softmax(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """The logarithm of :func:`softmax`."""
    return nn.log_softmax(x, axis=axis)
