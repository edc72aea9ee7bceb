"""Mapped sites: one site on arrays with the mapped axis in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import algebra, registry

from .sites import observe_p, sample_p

_batch = registry().table("batching.batch")


def _leading(mapped: Any, args: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
    a = algebra()
    return [
        a.broadcast(x, mapped.size, 0) if d is None else a.move_axis(x, d, 0)
        for x, d in zip(args, dims)
    ]


@_batch.register(sample_p)
def _sample(mapped: Any, args: Any, dims: Any, /, **params: Any) -> Any:
    return sample_p.bind(*_leading(mapped, args, dims), **params), 0


@_batch.register(observe_p)
def _observe(mapped: Any, args: Any, dims: Any, /, **params: Any) -> Any:
    return observe_p.bind(*_leading(mapped, args, dims), **params), []
