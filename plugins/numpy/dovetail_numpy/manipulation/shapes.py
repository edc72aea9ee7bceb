"""Shapes and axes: reshape, transpose, squeeze, broadcast, and their relatives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.arguments import items
from dovetail_core import ShapedArray, here, type_shardings
from dovetail_lax.errors import ShapeError
from dovetail_xla.arrays import ArrayImpl

from ..creation.arrays import as_array, asarray
from ..fusion import fused, of_one_array, one_call
from ..operands import (
    Array,
    ArrayLike,
    Axis,
    UnsupportedError,
    axis_index,
    axis_tuple,
    has_array_conversion,
    integer,
    shape_tuple,
)
from ..operations import transpose as permute
from ..promotion import broadcast, broadcast_shapes as common_shape

_DIMENSION = "every dimension of the new shape"


def new_shape(name: str, shape: Any, own: tuple[int, ...]) -> tuple[int, ...]:
    """A target shape with its one -1 worked out.

    Raises:
        TypeError: the sizes do not fit; names both shapes and their sizes.
    """
    if not isinstance(shape, (tuple, list)):
        shape = (shape,) if not hasattr(shape, "__iter__") or np.ndim(shape) == 0 else tuple(shape)
    dims = tuple([d if d.__class__ is int else integer(name, _DIMENSION, d) for d in shape])
    size = prod(own)
    if -1 in dims:
        rest = prod([d for d in dims if d != -1])
        if dims.count(-1) > 1:
            raise TypeError(f"{name}: only one dimension may be -1, got {dims}{here()}")
        if rest == 0 or size % rest:
            raise TypeError(
                f"cannot {name} array of shape {own} (size {size}) into {dims}: {rest} does "
                f"not divide {size}{here()}"
            )
        dims = tuple([size // rest if d == -1 else d for d in dims])
    if prod(dims) != size or any(d < 0 for d in dims):
        raise TypeError(
            f"cannot {name} array of shape {own} (size {size}) into shape {dims} (size "
            f"{prod(dims)}){here()}. The sizes must be equal; one dimension may be -1."
        )
    return dims


def _of_numpy(a: Any, shape: Any, order: Any, copy: bool | None) -> Any:
    """NumPy's own reshape, with the source location in its errors."""
    try:
        result = a.reshape(shape, order=order)
    except ValueError as error:
        raise ValueError(f"{error}{here()}") from None
    return result.copy() if copy else result


def reshape(
    a: ArrayLike,
    shape: Any,
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: Any = None,
) -> Array:
    """``a`` in another shape of the same size; one dimension may be -1 and is worked out.

    A NumPy array stays one, also under a trace.

    Raises:
        TypeError: the sizes do not fit.
        ValueError: those of a NumPy array do not.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, reshape, a, shape, order)
    if isinstance(a, (np.ndarray, np.generic)):
        return _of_numpy(a, shape, order, copy)
    a = as_array("reshape", a)
    own = a.shape
    dims = new_shape("reshape", shape, own)
    if order == "C":
        return a if dims == own else lax.reshape_p.bind(a, new_sizes=dims)
    if order == "F":
        backwards = lax.reshape(transpose(a), dims[::-1])
        return transpose(backwards)
    raise UnsupportedError(f"reshape: order must be 'C' or 'F', got {order!r}{here()}")


@one_call("order", "out_sharding")
def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Any = None) -> Array:
    """``a`` flattened to one dimension, in the order ``"C"`` or ``"F"``.

    Raises:
        NotImplementedError: ``order="K"``.
        ValueError: another order.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, ravel, a, order)
    if order not in ("C", "F", "A"):
        error = NotImplementedError if order == "K" else ValueError
        raise error(f"ravel: order must be 'C' or 'F', got {order!r}{here()}")
    a = as_array("ravel", a)
    return reshape(a, -1 if a.size else (0,), "F" if order == "F" else "C")


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """``a`` with its axes in another order; reversed by default.

    Raises:
        ShapeError: ``axes`` is not a permutation of the axes; a TypeError and a ValueError.
    """
    a = as_array("transpose", a)
    ndim = len(a.shape)
    if axes is None:
        order = tuple(range(ndim - 1, -1, -1))
    else:
        order = axis_tuple(
            "transpose", axes if axes.__class__ is tuple else items("axes", axes), ndim
        )
        if len(order) != ndim:
            raise ShapeError(
                f"transpose: axes {order} do not name each axis of an array of "
                f"shape {a.shape} once{here()}"
            )
    return permute(a, order)


def permute_dims(a: ArrayLike, /, axes: Sequence[int]) -> Array:
    """``a`` with its axes in the order ``axes`` (see :func:`transpose`)."""
    return transpose(a, axes)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """``x`` with its last two axes exchanged.

    Raises:
        ValueError: ``x`` has less than two dimensions.
    """
    x = as_array("matrix_transpose", x)
    n = len(x.shape)
    if n < 2:
        raise ValueError(
            f"matrix_transpose needs at least two dimensions, got shape {x.shape}{here()}"
        )
    return lax.transpose_p.bind(x, permutation=(*range(n - 2), n - 1, n - 2))


@one_call("axis1", "axis2")
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """``a`` with two axes exchanged."""
    a = as_array("swapaxes", a)
    i, j = (axis_index("swapaxes", k, a.ndim) for k in (axis1, axis2))
    order = list(range(a.ndim))
    order[i], order[j] = j, i
    return permute(a, tuple(order))


@one_call("source", "destination")
def moveaxis(a: ArrayLike, source: Any, destination: Any) -> Array:
    """``a`` with axes moved to new positions; the others stay in order.

    Raises:
        ValueError: not as many positions as axes, or one is named twice.
    """
    a = as_array("moveaxis", a)
    src, dst = (axis_tuple("moveaxis", s, a.ndim) for s in (source, destination))
    if len(src) != len(dst):
        raise ValueError(f"moveaxis: {len(src)} sources for {len(dst)} destinations{here()}")
    order = [i for i in range(a.ndim) if i not in src]
    for position, axis in sorted(zip(dst, src)):
        order.insert(position, axis)
    return permute(a, tuple(order))


@one_call("axis", "start")
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """``a`` with one axis moved to before ``start``."""
    a = as_array("rollaxis", a)
    axis = axis_index("rollaxis", axis, a.ndim)
    start = integer("rollaxis", "start", start)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise ValueError(
            f"rollaxis: start {start} is out of bounds for {a.ndim} dimensions{here()}"
        )
    return moveaxis(a, axis, start - 1 if axis < start else start)


@of_one_array("axis")
def squeeze(a: ArrayLike, axis: Axis = None) -> Array:
    """``a`` without axes of size 1: all of them, or those that ``axis`` names.

    Raises:
        ValueError: an axis has another size.
    """
    a = as_array("squeeze", a)
    if axis is None:
        axes = tuple([i for i, d in enumerate(a.shape) if d == 1])
    else:
        axes = tuple(sorted(axis_tuple("squeeze", axis, a.ndim)))
        for i in axes:
            if a.shape[i] != 1:
                raise ValueError(
                    f"squeeze: axis {i} of an array of shape {a.shape} has size "
                    f"{a.shape[i]}, not 1{here()}"
                )
    return lax.squeeze_p.bind(a, dimensions=axes) if axes else a


def expand_dims(a: ArrayLike, axis: Any) -> Array:
    """``a`` with axes of size 1 inserted at ``axis``, positions in the result.

    Raises:
        ValueError: a position is out of bounds or named twice.
    """
    a = as_array("expand_dims", a)
    axis = tuple(axis) if np.ndim(axis) else axis
    count = len(axis) if isinstance(axis, tuple) else 1
    ndim = a.ndim + count
    new = axis_tuple("expand_dims", axis, ndim)
    rest = iter(a.shape)
    shape = tuple([1 if i in new else next(rest) for i in range(ndim)])
    dims = tuple([i for i in range(ndim) if i not in new])
    if not count:
        return a
    return lax.broadcast_in_dim_p.bind(a, shape=shape, broadcast_dimensions=dims)


def broadcast_to(array: ArrayLike, shape: Any, *, out_sharding: Any = None) -> Array:
    """``array`` repeated along axes to fill ``shape``.

    Raises:
        ValueError: it does not broadcast to ``shape``.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, broadcast_to, array, shape)
    x = as_array("broadcast_to", array)
    dims = shape_tuple("broadcast_to", shape)
    own = x.shape
    fits = len(own) <= len(dims)
    if not fits or any(o not in (1, d) for o, d in zip(own[::-1], dims[::-1])):
        raise ValueError(
            f"broadcast_to: an array of shape {own} does not broadcast to shape {dims}{here()}. "
            "Aligned from the right, each of its dimensions must be 1 or that of the shape."
        )
    return broadcast(x, dims)


def broadcast_arrays(*args: ArrayLike) -> list[Array]:
    """All arguments broadcast to their common shape."""
    arrays = [as_array("broadcast_arrays", x, i) for i, x in enumerate(args)]
    if not arrays:
        return []
    shape = common_shape("broadcast_arrays", *(x.shape for x in arrays))
    return [broadcast(x, shape) for x in arrays]


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Raises:
        ValueError: they do not broadcast together.
    """
    return lax.broadcast_shapes(*(shape_tuple("broadcast_shapes", s) for s in shapes))


def _at_least(name: str, arys: tuple[Any, ...], expand: Any) -> Any:
    if len(arys) == 1 and isinstance(arys[0], (list, tuple)):
        raise TypeError(
            f"{name} takes arrays as separate arguments, got a {type(arys[0]).__name__}{here()}"
        )
    if len(arys) == 1 and arys[0].__class__ is ArrayImpl:
        return expand(arys[0])
    out = [expand(as_array(name, x, i)) for i, x in enumerate(arys)]
    return out[0] if len(out) == 1 else out


@fused(static=("axes",))
def _with_axes(x: Any, axes: Any) -> Any:
    return expand_dims(x, axes)


def atleast_1d(*arys: ArrayLike) -> Any:
    """Arguments with at least one dimension; one array for one argument, else a list."""
    return _at_least("atleast_1d", arys, lambda x: x if x.ndim else _with_axes(x, 0))


def atleast_2d(*arys: ArrayLike) -> Any:
    """Arguments with at least two dimensions; vectors become rows."""
    return _at_least("atleast_2d", arys, _with_two)


def _with_two(x: Any) -> Any:
    return x if x.ndim >= 2 else _with_axes(x, 0 if x.ndim else (0, 1))


def atleast_3d(*arys: ArrayLike) -> Any:
    """Arguments with at least three dimensions; matrices get a last axis."""
    positions: dict[int, Any] = {0: (0, 1, 2), 1: (0, 2), 2: 2}

    def expand(x: Any) -> Any:
        return x if x.ndim >= 3 else _with_axes(x, positions[x.ndim])

    return _at_least("atleast_3d", arys, expand)


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The shape of an array."""
    return a.shape if hasattr(a, "aval") else _shape("shape", a)


def _shape(name: str, a: Any) -> tuple[int, ...]:
    own: Any = getattr(a, "shape", None)
    if own.__class__ is tuple and hasattr(a, "dtype"):  # types, SciPy's matrices
        return own
    if isinstance(a, str):
        return ()
    if hasattr(a, "dtype") or isinstance(a, (int, float, complex)) or has_array_conversion(a):
        return as_array(name, a).shape
    what = f"{name} of a value of type {type(a).__name__}{here()}, which is no array"
    warnings.warn(f"{what}, will fail: convert it (asarray).", DeprecationWarning, stacklevel=3)
    return asarray(a).shape if a.__class__ in (list, tuple) else np.shape(a)


def ndim(a: ArrayLike) -> int:
    """The number of dimensions of an array."""
    return a.ndim if hasattr(a, "aval") else len(_shape("ndim", a))


def size(a: ArrayLike, axis: Axis = None) -> int:
    """The number of elements of an array, or along some axes."""
    own = a.shape if hasattr(a, "aval") else _shape("size", a)
    if axis is None:
        return prod(own)
    return prod(own[i] for i in axis_tuple("size", axis, len(own)))


@one_call("new_shape")
def resize(a: ArrayLike, new_shape: Any) -> Array:
    """The elements of ``a``, repeated or cut off as needed, in a new shape."""
    dims = shape_tuple("resize", new_shape)
    flat = ravel(as_array("resize", a))
    ShapedArray(dims, flat.dtype)  # raises for sizes that are too large
    wanted = prod(dims)
    if not flat.size or not wanted:
        return lax.full(dims, np.zeros((), flat.dtype)[()])
    copies = -(-wanted // flat.size)
    repeated = lax.concatenate([flat] * copies, 0) if copies > 1 else flat
    return lax.reshape(lax.slice_in_dim(repeated, 0, wanted), dims)
