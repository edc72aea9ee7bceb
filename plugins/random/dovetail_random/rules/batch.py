"""``threefry2x32`` over a mapped axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_batching import batch_rules
from dovetail_core.types.algebra import algebra

from ..draws.gamma import random_gamma_p
from ..threefry import threefry2x32_p


@batch_rules.register(threefry2x32_p)
def _threefry2x32(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int]]:
    first = [x if d is None or d == 0 else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    ranks = [len(getattr(x, "shape", ())) - (d is not None) for x, d in zip(first, dims)]
    if max(ranks) == 0:  # scalars: those without the axis stay scalar
        return threefry2x32_p.bind(*first), [0, 0]
    widest = ranks.index(max(ranks))
    inner = first[widest].shape[dims[widest] is not None :]
    shape = (axis.size, *inner)
    aligned = [_aligned(x, d, rank, shape) for x, d, rank in zip(first, dims, ranks)]
    return threefry2x32_p.bind(*aligned), [0, 0]


def _aligned(x: Any, dim: int | None, rank: int, shape: tuple[int, ...]) -> Any:
    """An operand in the full shape; scalars without the axis stay as they are."""
    if dim is None:
        return x if rank == 0 else lax.broadcast_in_dim(x, shape, tuple(range(1, len(shape))))
    return lax.broadcast_in_dim(x, shape, (0,)) if rank == 0 else x


@batch_rules.register(random_gamma_p)
def _random_gamma(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, int]:
    aligned = [
        algebra().broadcast(x, axis.size, 0) if d is None else algebra().move_axis(x, d, 0)
        for x, d in zip(args, dims)
    ]
    return random_gamma_p.bind(*aligned, **params), 0
