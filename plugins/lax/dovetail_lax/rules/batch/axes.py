"""How axes shift where a mapped axis is added to arrays, and how arrays agree on its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...primitives.moves import moved, repeated


def shifted(axes: Sequence[int], dim: int) -> tuple[int, ...]:
    """Axes counted without the mapped axis at ``dim``, counted with it."""
    return tuple([a + (a >= dim) for a in axes])


def aligned_arrays(
    size: int, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], int]:
    """Arrays of one shape (without the mapped axis) with it at one place, and that place."""
    place = next(d for d in dims if d is not None)
    return [
        x if d == place else repeated(x, size, place) if d is None else moved(x, d, place)
        for x, d in zip(args, dims)
    ], place


def inserted(values: Sequence[Any], dim: int, value: Any) -> tuple[Any, ...]:
    """A parameter with one value per axis, with one for the mapped axis."""
    return (*values[:dim], value, *values[dim:])
