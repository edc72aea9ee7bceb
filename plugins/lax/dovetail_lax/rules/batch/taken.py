"""Batching of ``taken``, the operands of a branch under a mapped predicate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.taken import Places, bind_taken, taken_p
from .axes import first


@batch_rules.register(taken_p)
def _taken(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    case: int,
    places: Places,
    zeroed: bool,
) -> tuple[list[Any], Sequence[int | None]]:
    """Operands that all elements share stay so, if the others go together as they did for the axes
    that the index had before: there, what the two make together is taken care of already."""
    (index, *operands), (at, *own) = args, dims
    places = tuple([_moved(p, d) for p, d in zip(places, own)])
    if at is not None:
        index, mapped = first(index, at, axis.size), [d is not None for d in own]
        before = zip(*[[q is not None for q in p] for p in places])
        if any(mapped) and any(list(flags) != mapped for flags in before):
            operands = [first(x, d, axis.size) for x, d in zip(operands, own)]
            shared = zip(places, own)
            places = tuple([_moved(p, 0) if d is None else _to_front(p, d) for p, d in shared])
            own = [0] * len(own)
        places = tuple([(d, *p) for p, d in zip(places, own)])
    return bind_taken(index, operands, case=case, places=places, zeroed=zeroed), own


def _moved(place: tuple[int | None, ...], dim: int | None) -> tuple[int | None, ...]:
    """Where axes are once there is one more at ``dim``."""
    return place if dim is None else tuple([q if q is None else q + (q >= dim) for q in place])


def _to_front(place: tuple[int | None, ...], dim: int) -> tuple[int | None, ...]:
    """Where axes are once the one at ``dim`` is the first."""
    return tuple([q if q is None else q + (q < dim) for q in place])
