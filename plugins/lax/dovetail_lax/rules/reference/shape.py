"""Rearranging, slicing, joining and dividing arrays by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.shape import (
    Padding,
    Shape,
    broadcast_in_dim_p,
    concatenate_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    squeeze_p,
    stack_p,
    tile_p,
    transpose_p,
    unstack_p,
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


@reference_rules.register(slice_p)
def _slice(x: Array, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None) -> Array:
    steps = strides or (1,) * x.ndim
    return x[tuple(map(slice, start_indices, limit_indices, steps))]


def _box(shape: Shape, starts: tuple[Array, ...], sizes: Shape) -> tuple[slice, ...]:
    """The box of the given sizes at the starts, moved inside of the array."""
    lows = [min(max(int(i), 0), n - s) for i, n, s in zip(starts, shape, sizes)]
    return tuple([slice(low, low + s) for low, s in zip(lows, sizes)])


@reference_rules.register(dynamic_slice_p)
def _dynamic_slice(x: Array, *starts: Array, slice_sizes: Shape) -> Array:
    return x[_box(x.shape, starts, slice_sizes)]


@reference_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice(x: Array, update: Array, *starts: Array) -> Array:
    out = np.array(x)
    out[_box(x.shape, starts, update.shape)] = update
    return out


@reference_rules.register(concatenate_p)
def _concatenate(*operands: Array, dimension: int) -> Array:
    return np.concatenate(operands, axis=dimension)


@reference_rules.register(pad_p)
def _pad(x: Array, value: Array, *, padding_config: Padding) -> Array:
    # Element k of an axis goes to low + k * (interior + 1); what falls outside is dropped.
    sizes = [lo + hi + n + max(0, n - 1) * i for n, (lo, hi, i) in zip(x.shape, padding_config)]
    out = np.full(sizes, value, x.dtype)
    positions = [lo + np.arange(n) * (i + 1) for n, (lo, _, i) in zip(x.shape, padding_config)]
    kept = [(p >= 0) & (p < n) for p, n in zip(positions, sizes)]
    if x.ndim == 0:
        return x.copy()
    out[np.ix_(*[p[k] for p, k in zip(positions, kept)])] = x[np.ix_(*kept)]
    return out


@reference_rules.register(split_p)
def _split(x: Array, *, sizes: Shape, axis: int) -> list[Array]:
    return np.split(x, np.cumsum(sizes)[:-1], axis) if sizes else []


@reference_rules.register(stack_p)
def _stack(*operands: Array, axis: int) -> Array:
    return np.stack(operands, axis)


@reference_rules.register(unstack_p)
def _unstack(x: Array, *, axis: int) -> list[Array]:
    return list(np.moveaxis(x, axis, 0))


@reference_rules.register(tile_p)
def _tile(x: Array, *, reps: Shape) -> Array:
    return np.tile(x, reps)
