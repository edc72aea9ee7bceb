"""Operations on keys, and ``threefry2x32``, over a mapped axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_batching import batch_rules
from dovetail_core import algebra

from .. import primitives
from ..draws.gamma import random_gamma_p
from ..threefry import threefry2x32_p


@batch_rules.register(threefry2x32_p)
def _threefry2x32(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int]]:
    first = [x if d is None or d == 0 else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    ranks = [len(getattr(x, "shape", ())) - (d is not None) for x, d in zip(first, dims)]
    if max(ranks) == 0:  # scalars: those without the axis stay scalar
        return threefry2x32_p.bind(*first, **params), [0, 0]
    widest = ranks.index(max(ranks))
    inner = first[widest].shape[dims[widest] is not None :]
    shape = (axis.size, *inner)
    aligned = [_aligned(x, d, rank, shape) for x, d, rank in zip(first, dims, ranks)]
    return threefry2x32_p.bind(*aligned, **params), [0, 0]


def _aligned(x: Any, dim: int | None, rank: int, shape: tuple[int, ...]) -> Any:
    """An operand in the full shape; scalars without the axis stay as they are."""
    if dim is None:
        return x if rank == 0 else lax.broadcast_in_dim(x, shape, tuple(range(1, len(shape))))
    return lax.broadcast_in_dim(x, shape, (0,)) if rank == 0 else x


@batch_rules.register(primitives.random_fold_in_p)
def _fold_in(axis: Any, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int]:
    ranks = [np.ndim(x) - (d is not None) for x, d in zip(args, dims)]
    if not any(ranks):  # an operand that is not mapped stays a scalar
        return primitives.random_fold_in_p.bind(*args), 0
    if all(ranks):
        return _for_each(primitives.random_fold_in_p, axis, args, dims)
    # One number for many keys, or one key for many numbers, in each element.
    (many,) = [i for i, rank in enumerate(ranks) if rank]
    aligned = [_in_front(axis, x, d) for x, d in zip(args, dims)]
    aligned[1 - many] = lax.broadcast_in_dim(aligned[1 - many], np.shape(aligned[many]), (0,))
    return primitives.random_fold_in_p.bind(*aligned), 0


def _in_front(axis: Any, x: Any, dim: int | None) -> Any:
    return algebra().broadcast(x, axis.size, 0) if dim is None else algebra().move_axis(x, dim, 0)


def _for_each(
    primitive: Any, axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, int]:
    """The rule of an operation that does the same for each element of its operands."""
    aligned = [_in_front(axis, x, d) for x, d in zip(args, dims)]
    return primitive.bind(*aligned, **params), 0


for _primitive in (
    random_gamma_p, primitives.random_bits_p, primitives.random_clone_p, primitives.random_seed_p,
    primitives.random_split_p, primitives.random_unwrap_p, primitives.random_wrap_p,
):  # fmt: skip
    batch_rules.register(_primitive)(partial(_for_each, _primitive))
