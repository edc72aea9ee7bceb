"""Reference evaluation of what rearranges one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.shape import (
    Shape,
    broadcast_in_dim_p,
    reshape_p,
    rev_p,
    squeeze_p,
    transpose_p,
)

Array = np.ndarray[Any, Any]


@reference_rules.register(reshape_p)
def _reshape(x: Array, *, new_sizes: Shape, dimensions: Shape | None = None) -> Array:
    return np.reshape(x if dimensions is None else np.transpose(x, dimensions), new_sizes)


@reference_rules.register(transpose_p)
def _transpose(x: Array, *, permutation: Shape) -> Array:
    return np.transpose(x, permutation)


@reference_rules.register(broadcast_in_dim_p)
def _broadcast_in_dim(x: Array, *, shape: Shape, broadcast_dimensions: Shape) -> Array:
    sizes = [1] * len(shape)
    for n, d in zip(np.shape(x), broadcast_dimensions):
        sizes[d] = n
    return np.broadcast_to(np.reshape(x, sizes), shape).copy()


@reference_rules.register(squeeze_p)
def _squeeze(x: Array, *, dimensions: Shape) -> Array:
    return np.squeeze(x, dimensions)


@reference_rules.register(rev_p)
def _rev(x: Array, *, dimensions: Shape) -> Array:
    return np.flip(x, dimensions)
