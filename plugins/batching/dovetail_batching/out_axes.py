"""Results of ``vmap`` with their mapped axis moved to ``out_axes``, or summed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_core import (
    HiType,
    algebra,
    canonical_dtype,
    here,
    type_shardings,
    typeof,
)
from dovetail_tree.util import (
    keystr,
    tree_flatten_with_path,
    tree_structure,
    tree_unflatten,
)

from .trace import Axis, Batched, carrier_of


def summed(name: str, x: Any, dim: int) -> Any:
    """The sum of ``x`` over its mapped axis; narrow integers and booleans are widened first.

    Raises:
        TypeError: ``x`` is not an array of numbers.
    """
    aval: Any = typeof(x)
    if aval.is_high or not isinstance(getattr(aval, "dtype", None), np.dtype):
        raise TypeError(
            f"vmap of {name}: sum_match=True, but there are no sums of values of type "
            f"{aval.str_short()}{here()}. Give the position of their mapped axis in out_axes."
        )
    wide = _sum_dtype(aval.dtype)
    if wide != aval.dtype:
        x = algebra().convert(x, aval.update(dtype=wide, weak_type=False))
    return algebra().sum(x, (dim,))


def _sum_dtype(dtype: Any) -> Any:
    """The type of sums: for integers at least as wide as the default integer type."""
    unsigned = dtype.name.startswith("uint")
    if dtype.kind != "b" and not unsigned and not dtype.name.startswith("int"):
        return dtype
    default = canonical_dtype(np.dtype(np.uint64 if unsigned else np.int64))
    return default if dtype.kind == "b" or dtype.itemsize < default.itemsize else dtype


class DependsOnAxis(ValueError):
    """A result depends on the mapped axis, and its entry of ``out_axes`` is None."""


def with_out_axes(
    move: Callable[..., Any], tree: Any, results: Sequence[Batched], out_dims: Sequence[Any]
) -> list[Any]:
    """The leaves of the result ``tree``, with their mapped axes at ``out_dims``.

    Args:
        move: :func:`with_out_axis` of one result and position.

    Raises:
        ValueError: an entry of ``out_dims`` does not fit a result; names the leaf.
    """
    try:
        return [move(v, d) for v, d in zip(results, out_dims)]
    except DependsOnAxis as e:
        at = [d is None and v[1] is not None for v, d in zip(results, out_dims)].index(True)
        raise missing_out_axis(e, tree_structure(tree), at, results[at][1]) from None


def missing_out_axis(error: DependsOnAxis, tree: Any, at: int, dim: Any) -> ValueError:
    """The error for leaf ``at`` of a result, whose mapped axis ``dim`` has no entry."""
    path = tree_flatten_with_path(tree_unflatten(tree, range(tree.num_leaves)))[0][at][0]
    spec = f"got axis spec None but output was batched on axis {dim}"
    return ValueError(f"at vmap out_axes{keystr(path)}, {spec}: {error}")


def with_out_axis(
    name: str, axis: Axis, value: Batched, wanted: int | None, sum_match: bool
) -> Any:
    """A result with its mapped axis at position ``wanted``.

    Raises:
        ValueError: the position is out of range, or is None and the result depends on the axis.
    """
    from dovetail_core import algebra

    x, dim = value
    aval: Any = typeof(x)
    if wanted is None:
        if dim is not None and sum_match:
            return summed(name, x, dim)
        if dim is not None:
            raise DependsOnAxis(
                f"vmap of {name}: out_axes is None for a result that depends on the mapped axis "
                f"(its type is {aval.str_short()}){here()}. Give the axis a position, or reduce "
                "over it (sum_match=True sums)."
            )
        return x
    if isinstance(aval, HiType):
        element: Any = carrier_of(axis).aval(value)
        return element.remap(x, axis.size, dim, wanted)
    ndim = aval.ndim + (dim is None)
    if not -ndim <= wanted < ndim:
        raise ValueError(
            f"vmap of {name}: out_axes={wanted} is out of range for a result of {ndim} "
            f"axes{here()}. Use one from {-ndim} to {ndim - 1}, or None."
        )
    position: int = wanted % ndim
    if dim is None:
        result = algebra().broadcast(x, axis.size, position)
        if axis.explicit_mesh_axis is None:
            return result
        mapped = aval.with_dimension(position, axis.size, axis.explicit_mesh_axis)
        return type_shardings.like_type(result, mapped, typeof(result))
    return x if dim == position else algebra().move_axis(x, dim, position)
