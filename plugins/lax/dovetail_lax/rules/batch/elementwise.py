"""Batching of elementwise operations, of changes of type, and of barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive, typeof

from ...primitives import arithmetic, discrete, transcendental, values
from ...primitives.shape import broadcast_in_dim_p, transpose_p
from ...primitives.values import bitcast_convert_type_p, dce_sink_p, optimization_barrier_p


def elementwise(primitive: Primitive) -> None:
    """Add the rule of an operation that treats all elements alike."""

    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
    ) -> tuple[Any, Any]:
        if len(args) == 1:
            return primitive.bind(args[0], **params), dims[0]
        if len(args) == 2:
            (x, y), (dim_x, dim_y) = args, dims
            if dim_x == dim_y:
                if len(x.shape) == len(y.shape):
                    return primitive.bind(x, y, **params), dim_x
            elif dim_y is None and not getattr(y, "shape", None):
                return primitive.bind(x, y, **params), dim_x
            elif dim_x is None and not getattr(x, "shape", None):
                return primitive.bind(x, y, **params), dim_y
        args, dim = aligned(axis.size, args, dims)
        return primitive.bind(*args, **params), dim

    batch_rules.set(primitive, rule)


def aligned(
    size: int, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[Sequence[Any], int]:
    """Operands with the mapped axis at one place, the first of theirs, or scalars; and that place.

    Operands are equally shaped or scalar where the mapped axis is not seen. Nothing is done where
    those with a mapped axis agree about its place and rank and the others are scalars.
    """
    shapes = [getattr(x, "shape", ()) for x in args]
    ranks = [len(s) - (d is not None) for s, d in zip(shapes, dims)]
    rank = max(ranks)
    # Most operations give results with the mapped axis in front, so what is moved there stays.
    # Where only scalars are mapped, all of the result's shape is theirs and the others'.
    places = [d for r, d in zip(ranks, dims) if d is not None and r == rank]
    place = min(places, default=0)
    shape = next(
        s if d is None else s[:d] + s[d + 1 :] for s, d, r in zip(shapes, dims, ranks) if r == rank
    )
    full = (*shape[:place], size, *shape[place:])
    return [
        x if (d is None and r == 0) or (d == place and r == rank) else _align(x, d, r, full, place)
        for x, d, r in zip(args, dims, ranks)
    ], place


def _align(x: Any, dim: int | None, rank: int, full: tuple[int, ...], place: int) -> Any:
    if dim is None or rank == 0 < len(full) - 1:  # an array that all share, or a mapped scalar
        axes = [i for i in range(len(full)) if i != place] if dim is None else [place]
        return broadcast_in_dim_p.bind(x, shape=full, broadcast_dimensions=tuple(axes))
    order = [i for i in range(len(full)) if i != dim]
    order.insert(place, dim)
    return transpose_p.bind(x, permutation=tuple(order))


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


for _family in (arithmetic, discrete, transcendental):
    for _name, _primitive in vars(_family).items():
        if _name.endswith("_p"):
            elementwise(_primitive)

for _primitive in (
    values.real_p,
    values.imag_p,
    values.complex_p,
    values.conj_p,
    values.select_n_p,
    values.clamp_p,
    values.convert_element_type_p,
    values.copy_p,
    values.stop_gradient_p,
):
    elementwise(_primitive)


@batch_rules.register(bitcast_convert_type_p)
def _bitcast(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, new_dtype: Any
) -> tuple[Any, int]:
    x = first(args[0], dims[0], axis.size)
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0


@batch_rules.register(dce_sink_p)
def _dce_sink(axis: Any, args: Any, dims: Any, *, prevent_mlir_dce: bool) -> Any:
    return dce_sink_p.bind(*args, prevent_mlir_dce=prevent_mlir_dce), []


@batch_rules.register(optimization_barrier_p)
def _optimization_barrier(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], Sequence[int | None]]:
    return optimization_barrier_p.bind(*args), dims
