"""Batching of gather, scatter and slices.

Slices with one start for all elements remain slices; with a start for each they become a gather or
a scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_batching import batch_rules
from dovetail_core import Primitive, typeof

from ...primitives import gather as g
from ...primitives.gather import ScatterDimensionNumbers, as_gather, as_scatter
from ...primitives.indexing import GatherDimensionNumbers, GatherScatterMode
from ...primitives.moves import joined, spread
from ...primitives.shape import Shape, dynamic_slice_p, dynamic_update_slice_p, slice_p
from .axes import first, shifted


def _all_batched(dn: GatherDimensionNumbers) -> GatherDimensionNumbers:
    """The numbers where operand, indices and windows all have a mapped axis, in front."""
    offset, collapsed, mapped, batching, paired = [shifted(axes, 0) for axes in dn]
    return GatherDimensionNumbers(offset, collapsed, mapped, (0, *batching), (0, *paired))


@batch_rules.register(g.gather_p)
def gather_batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    **params: Any,
) -> tuple[Any, int | None]:
    """The rule of gather; with no mapped axis at all it is gather itself."""
    operand, indices = args
    dim, indices_dim = dims
    offset, collapsed, mapped, batching, paired = dimension_numbers
    sizes = slice_sizes
    if indices_dim is not None:  # each element's indices are sorted; all of them together are not
        params["indices_are_sorted"] = False
    if dim is None and indices_dim is None:
        dn = dimension_numbers
    elif indices_dim is None:  # windows extend over all of the mapped axis
        operand = first(operand, dim, axis.size)
        sizes = (axis.size, *slice_sizes)
        dn = GatherDimensionNumbers(
            (0, *shifted(offset, 0)),
            shifted(collapsed, 0),
            shifted(mapped, 0),
            shifted(batching, 0),
            paired,
        )
    elif dim is None:  # more windows, which elements may have in common
        params["unique_indices"] = False
        indices = first(indices, indices_dim, axis.size)
        dn = GatherDimensionNumbers(
            shifted(offset, 0), collapsed, mapped, batching, shifted(paired, 0)
        )
    else:
        operand = first(operand, dim, axis.size)
        indices = first(indices, indices_dim, axis.size)
        sizes = (min(1, axis.size), *slice_sizes)
        dn = _all_batched(dimension_numbers)
    out = g.gather_p.bind(operand, indices, dimension_numbers=dn, slice_sizes=sizes, **params)
    return out, None if dim is None and indices_dim is None else 0


def scatter_batch(
    primitive: Primitive,
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: ScatterDimensionNumbers,
    **params: Any,
) -> tuple[Any, int]:
    """The rule of any primitive of the family."""
    operand, indices, updates = args
    window, inserted, mapped, batching, paired = dimension_numbers
    operand = first(operand, dims[0], axis.size)
    updates = first(updates, dims[2], axis.size)
    if dims[1] is None:  # windows extend over all of the mapped axis
        dn = ScatterDimensionNumbers(
            (0, *shifted(window, 0)),
            shifted(inserted, 0),
            shifted(mapped, 0),
            shifted(batching, 0),
            paired,
        )
    else:
        indices = first(indices, dims[1], axis.size)
        params["indices_are_sorted"] = False
        dn = as_scatter(_all_batched(as_gather(dimension_numbers)))
    return primitive.bind(operand, indices, updates, dimension_numbers=dn, **params), 0


def _fill(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
    ) -> tuple[Any, int]:
        return scatter_batch(primitive, axis, args, dims, **params)

    batch_rules.set(primitive, rule)


for _primitive in (
    g.scatter_p,
    g.scatter_add_p,
    g.scatter_sub_p,
    g.scatter_mul_p,
    g.scatter_min_p,
    g.scatter_max_p,
    g.scatter_apply_p,
):
    _fill(_primitive)


Dims = Sequence[int | None]


@batch_rules.register(slice_p)
def _slice_batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int],
    *,
    start_indices: Shape,
    limit_indices: Shape,
    strides: Shape | None,
) -> tuple[Any, int]:
    (dim,) = dims
    out = slice_p.bind(
        args[0],
        start_indices=(*start_indices[:dim], 0, *start_indices[dim:]),
        limit_indices=(*limit_indices[:dim], axis.size, *limit_indices[dim:]),
        strides=None if strides is None else (*strides[:dim], 1, *strides[dim:]),
    )
    return out, dim


def _with_zero(starts: Sequence[Any], dim: int) -> list[Any]:
    """Starts with a zero for the mapped axis at ``dim``."""
    dtype: Any = typeof(starts[0]).dtype if starts else np.dtype(np.int32)  # type: ignore
    return [*starts[:dim], dtype.type(0), *starts[dim:]]


def _is_zero(start: Any) -> bool:
    """True if a start is known to be 0."""
    return isinstance(start, (int, np.integer, np.ndarray)) and start == 0


def _index_vectors(
    size: int, starts: Sequence[Any], dims: Dims, axes: Sequence[int]
) -> tuple[Any, int | None]:
    """The starts of some axes as index vectors, with the mapped axis first if any has one."""
    shared = all(dims[i] is None for i in axes)
    if shared:
        return joined([spread(starts[i], (1,)) for i in axes], 0), None
    rows = [first(starts[i], dims[i], size) for i in axes]
    return joined([spread(r, (size, 1), (0,)) for r in rows], 1), 0


@batch_rules.register(dynamic_slice_p)
def _dynamic_slice_batch(
    axis: Any, args: Sequence[Any], dims: Dims, *, slice_sizes: Shape
) -> tuple[Any, int | None]:
    x, *starts = args
    dim, *start_dims = dims
    if dim is not None and all(d is None for d in start_dims):
        sizes = (*slice_sizes[:dim], axis.size, *slice_sizes[dim:])
        return dynamic_slice_p.bind(x, *_with_zero(starts, dim), slice_sizes=sizes), dim
    shape: list[int] = list(typeof(x).shape)  # type: ignore[attr-defined]
    if dim is not None:
        del shape[dim]
    # On axes that are taken in full the start is 0; another start is an error to checks.
    axes = tuple([i for i, n in enumerate(shape) if slice_sizes[i] != n or not _is_zero(starts[i])])
    if not axes:
        return x, dim
    indices, indices_dim = _index_vectors(axis.size, starts, start_dims, axes)
    return gather_batch(
        axis,
        (x, indices),
        (dim, indices_dim),
        dimension_numbers=GatherDimensionNumbers(tuple(range(len(shape))), (), axes),
        slice_sizes=slice_sizes,
        indices_are_sorted=True,
        unique_indices=True,
        mode=GatherScatterMode.CLIP_REPORTED,
        fill_value=None,
    )


@batch_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice_batch(
    axis: Any, args: Sequence[Any], dims: Dims
) -> tuple[Any, int | None]:
    x, update, *starts = args
    dim, update_dim, *start_dims = dims
    if all(d is None for d in start_dims):
        x, update = first(x, dim, axis.size), first(update, update_dim, axis.size)
        return dynamic_update_slice_p.bind(x, update, *_with_zero(starts, 0)), 0
    ndim = len(starts)
    axes = tuple(range(ndim))
    indices, indices_dim = _index_vectors(axis.size, starts, start_dims, axes)
    return scatter_batch(
        g.scatter_p,
        axis,
        (x, indices, update),
        (dim, indices_dim, update_dim),
        dimension_numbers=ScatterDimensionNumbers(axes, (), axes),
        indices_are_sorted=True,
        unique_indices=True,
        mode=GatherScatterMode.CLIP_REPORTED,
    )
