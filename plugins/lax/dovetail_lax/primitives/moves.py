"""Thin calls that bind primitives of rearrangement directly, for rules and decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import algebra, manual_axis_types, type_shardings, typeof

from ..scalars import scalar
from .shape import broadcast_in_dim_p, concatenate_p, pad_p, reshape_p, rev_p, slice_p, transpose_p


def transposed(x: Any, permutation: Sequence[int]) -> Any:
    """``x`` with its axes permuted; ``x`` itself where they stay in order."""
    order = tuple(permutation)
    if order == tuple(range(len(order))):
        return x
    return transpose_p.bind(x, permutation=order)


def moved(x: Any, source: int, destination: int) -> Any:
    """``x`` with one axis moved."""
    if source == destination:
        return x
    order = [i for i in range(len(x.shape)) if i != source]
    order.insert(destination, source)
    return transpose_p.bind(x, permutation=tuple(order))


def reshaped(x: Any, shape: Sequence[int]) -> Any:
    """``x`` in another shape; ``x`` itself where it has that shape."""
    new = tuple(shape)
    have = getattr(x, "shape", ())  # Python scalars have none
    return x if have == new else reshape_p.bind(x, new_sizes=new)


def spread(x: Any, shape: Sequence[int], dims: Sequence[int] = ()) -> Any:
    """``x`` broadcast: its axis ``i`` becomes axis ``dims[i]`` of ``shape``."""
    return broadcast_in_dim_p.bind(x, shape=tuple(shape), broadcast_dimensions=tuple(dims))


def repeated(x: Any, size: int, axis: int) -> Any:
    """``x`` with a new axis of length ``size`` at ``axis``."""
    own = getattr(x, "shape", ())
    shape = (*own[:axis], size, *own[axis:])
    dims = tuple([i for i in range(len(shape)) if i != axis])
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims)


def full(shape: Sequence[int], value: Any, dtype: Any) -> Any:
    """An array of one value."""
    x = scalar(value, dtype)
    return x if tuple(shape) == () else spread(x, shape)


def along(x: Any, axis: int, start: int, stop: int, stride: int = 1) -> Any:
    """``x[start:stop:stride]`` on one axis."""
    shape: tuple[int, ...] = x.shape
    if start == 0 and stop == shape[axis] and stride == 1:
        return x
    n = len(shape)
    before, after = (0,) * axis, (0,) * (n - axis - 1)
    return slice_p.bind(
        x,
        start_indices=(*before, start, *after),
        limit_indices=(*shape[:axis], stop, *shape[axis + 1 :]),
        strides=None if stride == 1 else (*(1,) * axis, stride, *(1,) * (n - axis - 1)),
    )


def reversed_along(x: Any, axes: Sequence[int]) -> Any:
    """``x`` with some axes reversed."""
    return rev_p.bind(x, dimensions=tuple(axes)) if axes else x


def joined(xs: Sequence[Any], axis: int) -> Any:
    """Arrays put one after the other along an axis."""
    return xs[0] if len(xs) == 1 else concatenate_p.bind(*xs, dimension=axis)


def padded(x: Any, config: Sequence[tuple[int, int, int]], value: Any = 0) -> Any:
    """``x`` padded by ``(low, high, interior)`` per axis; ``x`` itself where all are zero."""
    if all(c == (0, 0, 0) for c in config):
        return x
    filler = _zero_beside(x) if value.__class__ is int and value == 0 else scalar(value, x.dtype)
    return pad_p.bind(x, filler, padding_config=tuple(config))


def _zero_beside(x: Any) -> Any:
    """A zero of the element type of ``x``, unreduced along the axes along which ``x`` is: padding
    is linear in both together."""
    aval: Any = typeof(x)
    zero = scalar(0, aval.dtype)
    if aval.vma and (sums := manual_axis_types.unreduced_in(aval.vma)):
        zero = algebra().with_roles(zero, frozenset(map(manual_axis_types.Unreduced, sums)))
    if left := type_shardings.unreduced_axes(aval):
        spec = aval.divided.spec.update(partitions=(), unreduced=left, reduced=frozenset())
        zero = type_shardings.sharding_provider().with_division(
            zero, aval.divided.update(spec=spec)
        )
    return zero
