"""Batching of collectives: over the mapped axis itself they are operations on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_batching import batch_rules
from dovetail_core import Primitive, typeof

from ...primitives import collectives as c
from ...primitives.arithmetic import mul_p
from ...primitives.moves import moved, repeated, spread
from ...primitives.reductions import reduce_max_p, reduce_min_p, reduce_sum_p
from ...primitives.values import iota_p
from ...scalars import scalar


def _without(axis: Any, axes: Sequence[Any], sizes: Sequence[int]) -> dict[str, Any]:
    left = [(a, s) for a, s in zip(axes, sizes) if a != axis.name]
    return {"axes": tuple(a for a, _ in left), "axis_sizes": tuple(s for _, s in left)}


def _reduction(primitive: Primitive, reduce: Primitive, repeat: Callable[[Any, int], Any]) -> None:
    def rule(
        axis: Any,
        args: Sequence[Any],
        dims: Sequence[int | None],
        *,
        axes: Any,
        axis_sizes: Any,
        **groups: Any,
    ) -> tuple[Any, int | None]:
        (x,), (dim,) = args, dims
        if axis.name not in axes:
            return primitive.bind(x, axes=axes, axis_sizes=axis_sizes, **groups), dim
        x = repeat(x, axis.size) if dim is None else reduce.bind(x, axes=(dim,))
        left = _without(axis, axes, axis_sizes)
        return (primitive.bind(x, **left) if left["axes"] else x), None

    batch_rules.set(primitive, rule)


_reduction(c.psum_p, reduce_sum_p, lambda x, n: mul_p.bind(x, scalar(n, typeof(x).dtype)))  # type: ignore
_reduction(c.pmax_p, reduce_max_p, lambda x, n: x)
_reduction(c.pmin_p, reduce_min_p, lambda x, n: x)


def _in_place(primitive: Primitive) -> None:
    """Names of axes of meshes, which are not mapped, and nothing is moved within instances."""

    def rule(axis: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        return primitive.bind(*args, **params), dims[0]

    batch_rules.set(primitive, rule)


_in_place(c.psum_invariant_p)
_in_place(c.pvary_p)
_in_place(c.pcast_p)


@batch_rules.register(c.axis_index_p)
def _axis_index(axis: Any, args: Any, dims: Any, *, axes: Any, axis_sizes: Any) -> Any:
    if axis.name not in axes:
        return c.axis_index_p.bind(axes=axes, axis_sizes=axis_sizes), None
    return iota_p.bind(dtype=np.dtype(np.int32), shape=(axis.size,), dimension=0), 0


def _at_front(axis: Any, x: Any, dim: int | None) -> Any:
    return repeated(x, axis.size, 0) if dim is None else moved(x, dim, 0)


@batch_rules.register(c.ppermute_p)
def _ppermute(axis: Any, args: Any, dims: Any, *, axes: Any, axis_sizes: Any, perm: Any) -> Any:
    (x,), (dim,) = args, dims
    if axis.name not in axes:
        return c.ppermute_p.bind(x, axes=axes, axis_sizes=axis_sizes, perm=perm), dim
    x = _at_front(axis, x, dim)
    source = {d: s for s, d in perm}
    return _rows(x, [source.get(i) for i in range(axis.size)]), 0


def _rows(x: Any, rows: Sequence[int | None]) -> Any:
    """Rows of ``x`` in a given order; zeros for None."""
    from ...functions.gather import index_take
    from ...functions.values import select

    index = np.asarray([r or 0 for r in rows], np.int32)
    taken = index_take(x, (index,), (0,))
    if None not in rows:
        return taken
    have = spread(np.asarray([r is not None for r in rows]), x.shape, (0,))
    return select(have, taken, spread(scalar(0, x.dtype), x.shape))


def _along_others(primitive: Any, x: Any, dim: int | None, params: dict[str, Any]) -> Any:
    """A collective over other axes than the mapped one, which moves to the front."""
    if dim is None:
        return primitive.bind(x, **params), None
    return primitive.bind(moved(x, dim, 0), **{**params, "axis": params["axis"] + 1}), 0


@batch_rules.register(c.reduce_scatter_p)
def _reduce_scatter(
    mapped: Any, args: Any, dims: Any, *, axes: Any, axis_sizes: Any, axis: int, **groups: Any
) -> Any:
    (x,), (dim,) = args, dims
    if mapped.name not in axes:
        params = {"axes": axes, "axis_sizes": axis_sizes, "axis": axis, **groups}
        return _along_others(c.reduce_scatter_p, x, dim, params)
    # Position i receives the sum of all positions' slices i.
    total = reduce_sum_p.bind(_at_front(mapped, x, dim), axes=(0,))
    return moved(total, axis, 0), 0


def _gather_of_mesh(primitive: Primitive) -> None:
    def rule(mapped: Any, args: Any, dims: Any, **params: Any) -> Any:
        return _along_others(primitive, args[0], dims[0], params)

    batch_rules.set(primitive, rule)


_gather_of_mesh(c.all_gather_invariant_p)
_gather_of_mesh(c.all_gather_reduced_p)


@batch_rules.register(c.all_gather_p)
def _all_gather(
    mapped: Any, args: Any, dims: Any, *, axes: Any, axis_sizes: Any, axis: int, **groups: Any
) -> Any:
    (x,), (dim,) = args, dims
    if mapped.name not in axes:
        params = {"axes": axes, "axis_sizes": axis_sizes, "axis": axis, **groups}
        return _along_others(c.all_gather_p, x, dim, params)
    return moved(_at_front(mapped, x, dim), 0, axis), None


@batch_rules.register(c.all_to_all_p)
def _all_to_all(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    axes: Any,
    axis_sizes: Any,
    split_axis: int,
    concat_axis: int,
    **groups: Any,
) -> Any:
    (x,), (dim,) = args, dims
    if axis.name not in axes:
        x = x if dim is None else moved(x, dim, 0)
        off = dim is not None
        out = c.all_to_all_p.bind(
            x, axes=axes, axis_sizes=axis_sizes, split_axis=split_axis + off,
            concat_axis=concat_axis + off, **groups,
        )  # fmt: skip
        return out, None if dim is None else 0
    # Position i's slice j goes to position j: the split axis becomes the mapped one, and the
    # mapped axis, which distinguished the sources, becomes the concatenated one.
    x = moved(_at_front(axis, x, dim), split_axis + 1, 0)
    return moved(x, 1, concat_axis + 1), 0
