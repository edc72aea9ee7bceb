"""Batching of the backend's random bits: the first state draws for all, bounds for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.moves import full, joined, repeated, reshaped
from ...primitives.rng import rng_bit_generator_p, rng_uniform_p
from ...primitives.shape import slice_p
from .axes import first


def _row(x: Any, i: int) -> Any:
    rest = x.shape[1:]
    start, limit = (i, *(0 for _ in rest)), (i + 1, *rest)
    return reshaped(slice_p.bind(x, start_indices=start, limit_indices=limit, strides=None), rest)


@batch_rules.register(rng_bit_generator_p)
def _rng_bit_generator(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int]]:
    # One draw for the entire axis, from the first state: the others stay as they are.
    keys = first(args[0], dims[0], axis.size)
    params["shape"] = (axis.size, *params["shape"])
    state = _row(keys, 0) if axis.size else full(keys.shape[1:], 0, keys.dtype)
    state, bits = rng_bit_generator_p.bind(state, **params)
    if axis.size == 0:
        return [keys, bits], [0, 0]
    rest = slice_p.bind(keys, start_indices=(1, 0), limit_indices=keys.shape, strides=None)
    return [joined([repeated(state, 1, 0), rest], 0), bits], [0, 0]


@batch_rules.register(rng_uniform_p)
def _rng_uniform(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, shape: tuple[int, ...]
) -> tuple[Any, int]:
    a, b = (first(x, d, axis.size) for x, d in zip(args, dims))
    if axis.size == 0:
        return full((0, *shape), 0, a.dtype), 0
    drawn = [rng_uniform_p.bind(_row(a, i), _row(b, i), shape=shape) for i in range(axis.size)]
    return joined([repeated(x, 1, 0) for x in drawn], 0), 0
