"""Batching of ``taken``, the operands of a branch under a mapped predicate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.taken import Positions, bind_taken, taken_p
from .axes import first


@batch_rules.register(taken_p)
def _taken(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    case: int,
    positions: Positions,
    zeroed: bool,
) -> tuple[list[Any], Sequence[int | None]]:
    """The rule of ``taken``.

    Operands that all elements share stay shared if the new axis is an axis of the same operands as
    the axes that the index had before: for those, products of the two kinds are zero already.
    """
    (index, *operands), (at, *own) = args, dims
    positions = tuple([_moved(p, d) for p, d in zip(positions, own)])
    if at is not None:
        index, mapped = first(index, at, axis.size), [d is not None for d in own]
        before = zip(*[[q is not None for q in p] for p in positions])
        if any(mapped) and any(list(flags) != mapped for flags in before):
            operands = [first(x, d, axis.size) for x, d in zip(operands, own)]
            shared = zip(positions, own)
            positions = tuple([_moved(p, 0) if d is None else _to_front(p, d) for p, d in shared])
            own = [0] * len(own)
        positions = tuple([(d, *p) for p, d in zip(positions, own)])
    return bind_taken(index, operands, case=case, positions=positions, zeroed=zeroed), own


def _moved(position: tuple[int | None, ...], dim: int | None) -> tuple[int | None, ...]:
    """The indices of axes once there is one more at ``dim``."""
    return (
        position if dim is None else tuple([q if q is None else q + (q >= dim) for q in position])
    )


def _to_front(position: tuple[int | None, ...], dim: int) -> tuple[int | None, ...]:
    """The indices of axes once the one at ``dim`` is the first."""
    return tuple([q if q is None else q + (q < dim) for q in position])
