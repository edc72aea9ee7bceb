"""Batching of the backend's random bits: each state, or pair of bounds, draws for itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.moves import full, joined, repeated, reshaped
from ...primitives.rng import rng_bit_generator_p, rng_uniform_p
from ...primitives.shape import slice_p
from .elementwise import first


def _each(size: int, draw: Callable[[int], Sequence[Any]]) -> list[Any]:
    """Results of ``draw`` for each place on the mapped axis, stacked in front."""
    if size == 0:
        return [full((0, *x.shape), 0, x.dtype) for x in draw(0)]
    drawn = [draw(i) for i in range(size)]
    return [joined([repeated(x, 1, 0) for x in outs], 0) for outs in zip(*drawn)]


def _row(x: Any, i: int) -> Any:
    rest = x.shape[1:]
    start, limit = (i, *(0 for _ in rest)), (i + 1, *rest)
    return reshaped(slice_p.bind(x, start_indices=start, limit_indices=limit, strides=None), rest)


@batch_rules.register(rng_bit_generator_p)
def _rng_bit_generator(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int]]:
    keys = first(args[0], dims[0], axis.size)
    if axis.size == 0:
        one = rng_bit_generator_p.bind(full(keys.shape[1:], 0, keys.dtype), **params)
        return _each(0, lambda i: one), [0, 0]
    return _each(axis.size, lambda i: rng_bit_generator_p.bind(_row(keys, i), **params)), [0, 0]


@batch_rules.register(rng_uniform_p)
def _rng_uniform(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, shape: tuple[int, ...]
) -> tuple[Any, int]:
    a, b = (first(x, d, axis.size) for x, d in zip(args, dims))
    if axis.size == 0:
        return full((0, *shape), 0, a.dtype), 0
    outs = _each(axis.size, lambda i: [rng_uniform_p.bind(_row(a, i), _row(b, i), shape=shape)])
    return outs[0], 0
