"""Batching of rearranging and joining: the mapped axis keeps its index where that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_batching import batch_rules
from dovetail_core import typeof

from ...primitives.moves import full, spread
from ...primitives.shape import (
    Padding,
    Shape,
    broadcast_in_dim_p,
    concatenate_p,
    pad_p,
    reshape_p,
    rev_p,
    split_p,
    squeeze_p,
    stack_p,
    tile_p,
    transpose_p,
    unstack_p,
)
from ...primitives.values import select_n_p
from .axes import aligned_arrays, first, shifted

Batched = tuple[Any, int]


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
        x = transpose_p.bind(x, permutation=(0, *shifted(dimensions, 0)))
    return reshape_p.bind(x, new_sizes=(axis.size, *new_sizes)), 0


@batch_rules.register(transpose_p)
def _transpose_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int], *, permutation: Shape
) -> Batched:
    order = (dims[0], *shifted(permutation, dims[0]))
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
    # The order is kept: a first axis stays in front, as later operations read entire rows of it;
    # others go before the axis that their successor becomes.
    (dim,) = dims
    at = (*broadcast_dimensions, len(shape))[dim] if dim else 0
    positions = shifted(broadcast_dimensions, at)
    out = broadcast_in_dim_p.bind(
        args[0],
        shape=(*shape[:at], axis.size, *shape[at:]),
        broadcast_dimensions=(*positions[:dim], at, *positions[dim:]),
    )
    return out, at


@batch_rules.register(squeeze_p)
def _squeeze_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int], *, dimensions: Shape
) -> Batched:
    squeezed = shifted(dimensions, dims[0])
    return squeeze_p.bind(args[0], dimensions=squeezed), dims[0] - sum(
        d < dims[0] for d in squeezed
    )


@batch_rules.register(rev_p)
def _rev_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int], *, dimensions: Shape
) -> Batched:
    return rev_p.bind(args[0], dimensions=shifted(dimensions, dims[0])), dims[0]


Dims = Sequence[int | None]


@batch_rules.register(concatenate_p)
def _concatenate_batch(
    mapped: Any, args: Sequence[Any], dims: Dims, *, dimension: int
) -> tuple[Any, int]:
    xs, dim = aligned_arrays(mapped.size, args, dims)
    return concatenate_p.bind(*xs, dimension=dimension + (dimension >= dim)), dim


@batch_rules.register(stack_p)
def _stack_batch(mapped: Any, args: Sequence[Any], dims: Dims, *, axis: int) -> tuple[Any, int]:
    xs, dim = aligned_arrays(mapped.size, args, dims)
    at = axis + (axis > dim)
    return stack_p.bind(*xs, axis=at), dim + (at <= dim)


@batch_rules.register(unstack_p)
def _unstack_batch(
    mapped: Any, args: Sequence[Any], dims: Sequence[int], *, axis: int
) -> tuple[list[Any], list[int]]:
    (dim,) = dims
    at = axis + (axis >= dim)
    rows = unstack_p.bind(args[0], axis=at)
    return rows, [dim - (at < dim)] * len(rows)


@batch_rules.register(split_p)
def _split_batch(
    mapped: Any, args: Sequence[Any], dims: Sequence[int], *, sizes: Shape, axis: int
) -> tuple[list[Any], list[int]]:
    (dim,) = dims
    parts = split_p.bind(args[0], sizes=sizes, axis=axis + (axis >= dim))
    return parts, [dim] * len(parts)


@batch_rules.register(tile_p)
def _tile_batch(
    mapped: Any, args: Sequence[Any], dims: Sequence[int], *, reps: Shape
) -> tuple[Any, int]:
    (dim,) = dims
    return tile_p.bind(args[0], reps=(*reps[:dim], 1, *reps[dim:])), dim


@batch_rules.register(pad_p)
def _pad_batch(
    mapped: Any, args: Sequence[Any], dims: Dims, *, padding_config: Padding
) -> tuple[Any, int]:
    (x, value), (dim, value_dim) = args, dims
    if dim is not None and value_dim is None:
        config = (*padding_config[:dim], (0, 0, 0), *padding_config[dim:])
        return pad_p.bind(x, value, padding_config=config), dim
    # Each array has its own padding value: pad with any, then put the right one where it shows.
    x = first(x, dim, mapped.size)
    config = ((0, 0, 0), *padding_config)
    aval: Any = typeof(x)
    padded = pad_p.bind(x, aval.dtype.type(0), padding_config=config)
    where = full(aval.shape, True, np.dtype(np.bool_))
    covered = pad_p.bind(where, np.bool_(False), padding_config=config)
    values = spread(value, typeof(padded).shape, (0,))  # type: ignore[attr-defined]
    return select_n_p.bind(covered, values, padded), 0
