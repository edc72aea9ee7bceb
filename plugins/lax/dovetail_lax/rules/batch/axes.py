"""The mapped axis: how the numbers of other axes shift beside it, and operands that agree on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import typeof

from ...primitives.shape import broadcast_in_dim_p, transpose_p


def shifted(axes: Sequence[int], dim: int) -> tuple[int, ...]:
    """Axes counted without the mapped axis at ``dim``, counted with it."""
    return tuple([a + (a >= dim) for a in axes])


def inserted(values: Sequence[Any], dim: int, value: Any) -> tuple[Any, ...]:
    """A parameter with one value per axis, with one for the mapped axis."""
    return (*values[:dim], value, *values[dim:])


def first(x: Any, dim: int | None, size: int) -> Any:
    """``x`` with its mapped axis in front, made by broadcasting where it has none."""
    shape: tuple[int, ...] = typeof(x).shape  # type: ignore[attr-defined]
    if dim == 0:
        return x
    if dim is None:
        axes = tuple(range(1, len(shape) + 1))
        return broadcast_in_dim_p.bind(x, shape=(size, *shape), broadcast_dimensions=axes)
    order = [i for i in range(len(shape)) if i != dim]
    return transpose_p.bind(x, permutation=(dim, *order))


def aligned_arrays(
    size: int, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[Sequence[Any], int]:
    """Arrays of one shape (without the mapped axis) that have it at one index, and that index.

    They stay as they are where they agree on it; otherwise it comes first in all of them.
    """
    dim = dims[0]
    if dim is not None and all(d == dim for d in dims):
        return args, dim
    return [first(x, d, size) for x, d in zip(args, dims)], 0


def aligned(
    size: int, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[Sequence[Any], int]:
    """Operands of an elementwise operation that have the mapped axis at one index, and that index.

    Without the mapped axis they are equally shaped or scalar. Operands that have the axis at the
    index chosen, and scalars that all elements share, stay as they are.
    """
    shapes = [getattr(x, "shape", ()) for x in args]
    ranks = [len(s) - (d is not None) for s, d in zip(shapes, dims)]
    rank = max(ranks)
    # Most operations give results with the mapped axis in front, so what is moved there stays.
    # Where only scalars are mapped, all of the result's shape is theirs and the others'.
    dim = min([d for r, d in zip(ranks, dims) if d is not None and r == rank], default=0)
    shape = next(
        s if d is None else s[:d] + s[d + 1 :] for s, d, r in zip(shapes, dims, ranks) if r == rank
    )
    full = (*shape[:dim], size, *shape[dim:])
    return [
        x if (d is None and r == 0) or (d == dim and r == rank) else _align(x, d, r, full, dim)
        for x, d, r in zip(args, dims, ranks)
    ], dim


def _align(x: Any, dim: int | None, rank: int, full: tuple[int, ...], target: int) -> Any:
    if dim is None or rank == 0 < len(full) - 1:  # an array that all share, or a mapped scalar
        axes = [i for i in range(len(full)) if i != target] if dim is None else [target]
        return broadcast_in_dim_p.bind(x, shape=full, broadcast_dimensions=tuple(axes))
    order = [i for i in range(len(full)) if i != dim]
    order.insert(target, dim)
    return transpose_p.bind(x, permutation=tuple(order))
