"""Batching what joins and divides arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_batching import batch_rules
from dovetail_core import typeof

from ...primitives.joining import (
    Padding,
    concatenate_p,
    pad_p,
    split_p,
    stack_p,
    tile_p,
    unstack_p,
)
from ...primitives.moves import full, spread
from ...primitives.shape import Shape
from ...primitives.values import select_n_p
from .elementwise import first

Dims = Sequence[int | None]


def one_place(size: int, args: Sequence[Any], dims: Dims) -> tuple[Sequence[Any], int]:
    """Operands that all have the mapped axis at one place, and that place."""
    dim = dims[0]
    if dim is not None and all(d == dim for d in dims):
        return args, dim
    return [first(x, d, size) for x, d in zip(args, dims)], 0


@batch_rules.register(concatenate_p)
def _concatenate_batch(
    mapped: Any, args: Sequence[Any], dims: Dims, *, dimension: int
) -> tuple[Any, int]:
    xs, dim = one_place(mapped.size, args, dims)
    return concatenate_p.bind(*xs, dimension=dimension + (dimension >= dim)), dim


@batch_rules.register(stack_p)
def _stack_batch(mapped: Any, args: Sequence[Any], dims: Dims, *, axis: int) -> tuple[Any, int]:
    xs, dim = one_place(mapped.size, args, dims)
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
