"""Functions applied along axes of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core.tree.util import tree_map

from .creation.arrays import as_array
from .manipulation.shapes import expand_dims
from .operands import Array, ArrayLike, axis_index


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Array:
    """``func1d`` of each vector along ``axis``; its results' dimensions take the axis's place.

    Results may be tuples or other trees of arrays.
    """
    from dovetail_batching import vmap

    x = as_array("apply_along_axis", arr)
    axis = axis_index("apply_along_axis", axis, x.ndim)

    def f(v: Any) -> Any:
        out = func1d(v, *args, **kwargs)
        return tree_map(lambda leaf: as_array("apply_along_axis", leaf), out)

    for i in range(1, x.ndim - axis):
        f = vmap(f, in_axes=i, out_axes=-1)
    for _ in range(axis):
        f = vmap(f, in_axes=0, out_axes=0)
    return f(x)


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Any) -> Array:
    """``func(a, axis)`` for one axis after the other; axes that it removes are put back.

    Raises:
        ValueError: a result has neither the same dimensions nor one less.
    """
    x = as_array("apply_over_axes", a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        axis = axis_index("apply_over_axes", axis, x.ndim)
        out = as_array("apply_over_axes", func(x, axis))
        if out.ndim == x.ndim - 1:
            out = expand_dims(out, axis)
        if out.ndim != x.ndim:
            raise ValueError(
                f"apply_over_axes: a result of shape {out.shape} for an argument of shape {x.shape}"
            )
        x = out
    return x
