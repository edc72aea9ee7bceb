"""Reference evaluation of what joins and divides arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.joining import (
    Padding,
    concatenate_p,
    pad_p,
    split_p,
    stack_p,
    tile_p,
    unstack_p,
)
from ...primitives.shape import Shape

Array = np.ndarray[Any, Any]


@reference_rules.register(concatenate_p)
def _concatenate(*operands: Array, dimension: int) -> Array:
    return np.concatenate(operands, axis=dimension)


@reference_rules.register(pad_p)
def _pad(x: Array, value: Array, *, padding_config: Padding) -> Array:
    # Element k of an axis goes to low + k * (interior + 1); what falls outside is dropped.
    sizes = [lo + hi + n + max(0, n - 1) * i for n, (lo, hi, i) in zip(x.shape, padding_config)]
    out = np.full(sizes, value, x.dtype)
    places = [lo + np.arange(n) * (i + 1) for n, (lo, _, i) in zip(x.shape, padding_config)]
    kept = [(p >= 0) & (p < n) for p, n in zip(places, sizes)]
    if x.ndim == 0:
        return x.copy()
    out[np.ix_(*[p[k] for p, k in zip(places, kept)])] = x[np.ix_(*kept)]
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
