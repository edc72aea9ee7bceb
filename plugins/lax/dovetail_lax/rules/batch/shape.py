"""Batching what rearranges one array: the mapped axis stays where it is, if that can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.shape import (
    Shape,
    broadcast_in_dim_p,
    reshape_p,
    rev_p,
    squeeze_p,
    transpose_p,
)
from .elementwise import first

Batched = tuple[Any, int]


def beyond(axes: Sequence[int], dim: int) -> Shape:
    """Axes of an unmapped array as axes of the one with the mapped axis at ``dim``."""
    return tuple([a + (a >= dim) for a in axes])


@batch_rules.register(reshape_p)
def _reshape_batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int],
    *,
    new_sizes: Shape,
    dimensions: Shape | None = None,
) -> Batched:
    x = first(args[0], dims[0], axis.size)
    if dimensions is not None:
        x = transpose_p.bind(x, permutation=(0, *beyond(dimensions, 0)))
    return reshape_p.bind(x, new_sizes=(axis.size, *new_sizes)), 0


@batch_rules.register(transpose_p)
def _transpose_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int], *, permutation: Shape
) -> Batched:
    order = (dims[0], *beyond(permutation, dims[0]))
    return transpose_p.bind(args[0], permutation=order), 0


@batch_rules.register(broadcast_in_dim_p)
def _broadcast_in_dim_batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int],
    *,
    shape: Shape,
    broadcast_dimensions: Shape,
) -> Batched:
    # The order is kept: a first axis stays in front, where what follows reads whole rows of it, and
    # others go before the axis that their successor becomes.
    (dim,) = dims
    at = (*broadcast_dimensions, len(shape))[dim] if dim else 0
    places = beyond(broadcast_dimensions, at)
    out = broadcast_in_dim_p.bind(
        args[0],
        shape=(*shape[:at], axis.size, *shape[at:]),
        broadcast_dimensions=(*places[:dim], at, *places[dim:]),
    )
    return out, at


@batch_rules.register(squeeze_p)
def _squeeze_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int], *, dimensions: Shape
) -> Batched:
    gone = beyond(dimensions, dims[0])
    return squeeze_p.bind(args[0], dimensions=gone), dims[0] - sum(d < dims[0] for d in gone)


@batch_rules.register(rev_p)
def _rev_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int], *, dimensions: Shape
) -> Batched:
    return rev_p.bind(args[0], dimensions=beyond(dimensions, dims[0])), dims[0]
