"""Reading and writing by arrays of indices along axes: take, take_along_axis, put, choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_core import ConcretizationTypeError, Tracer, here

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, DTypeError, axis_index, no_out
from ..operations import number, reshape as to_shape, shape_of, strong
from ..promotion import INT32, broadcast, broadcast_shapes, convert, promote
from .at import IndexUpdateRef
from .reading import Options, gathered, index_dtype, wrapped


def _indices(name: str, indices: ArrayLike) -> Any:
    out = as_array(name, indices, 1)
    if out.dtype.kind == "b":
        return convert(out, INT32)
    if out.dtype.kind not in "iu":
        raise DTypeError(
            f"{name}: indices must be of an integer type, got {out.dtype}{here()}. Convert them "
            "with astype(int)."
        )
    return out


def take_along(a: Any, indices: Any, axis: int, options: Options | None = None) -> Any:
    """``a`` at integer places along one axis, by one gather."""
    options = options or Options("clip")
    shape = indices.shape
    places = wrapped(indices, a.shape[axis], options.wrap) if hasattr(indices, "aval") else indices
    vectors = to_shape(as_array("take", places), (*shape, 1))
    n, m = len(a.shape), len(shape)
    offsets = (*range(axis), *range(axis + m, n - 1 + m))
    return gathered(a, vectors, lax.GatherDimensionNumbers(offsets, (axis,), (axis,)), options)


_TAKE_STATIC = "axis", "out", "mode", "unique_indices", "indices_are_sorted", "fill_value"


@fused(static=("axis", "options"))
def _take(a: Any, indices: Any, axis: int, options: Options) -> Any:
    return take_along(a, indices, axis, options)


@one_call(*_TAKE_STATIC, shared=True)
def take(
    a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: None = None,
    mode: str | None = None, unique_indices: bool = False, indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:  # fmt: skip
    """Elements of ``a`` at ``indices`` along ``axis``, or of the flattened array.

    Args:
        mode: for indices out of bounds: ``"fill"`` (the default) gives ``fill_value``, by default
            NaN or the least integer; ``"clip"`` the nearest element; ``"wrap"`` counts around.

    Raises:
        TypeError: ``indices`` is not an array of integers.
        ValueError: the mode is unknown or the axis out of bounds.
    """
    no_out("take", out)
    a, places = as_array("take", a), _indices("take", indices)
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("take", axis, a.ndim)
    if mode is not None and mode.__class__ is not str:
        arguments.hashable("mode", mode)
    if mode == "wrap":
        places, mode = _mod(places, max(a.shape[axis], 1)), "promise_in_bounds"
    elif mode == "clip":
        # Negative indices are clipped, too, as by NumPy.
        options = Options("clip", None, indices_are_sorted, unique_indices, False)
        return _take(a, places, axis=axis, options=options)
    elif mode == "raise":
        raise NotImplementedError(
            f"take: mode 'raise' is not supported; use 'fill', 'clip' or 'wrap'{here()}"
        )
    options = Options(mode or "fill", fill_value, indices_are_sorted, unique_indices)
    return _take(a, places, axis=axis, options=options)


def _mod(places: Any, size: int) -> Any:
    from ..ufuncs.arithmetic import REMAINDER

    return REMAINDER(convert(places, index_dtype(places.dtype)), size)


@one_call("axis", "mode", "fill_value", "wrap_negative_indices", shared=True)
def take_along_axis(
    arr: ArrayLike, indices: ArrayLike, axis: int | None = -1, mode: Any = None,
    fill_value: Any = None, *, wrap_negative_indices: bool | None = None,
) -> Array:  # fmt: skip
    """Elements of ``arr`` along ``axis`` at ``indices``, which match or broadcast on other axes.

    Args:
        mode: for indices out of bounds, as for ``x.at[...].get`` (default ``"fill"``).

    Raises:
        TypeError: ``indices`` is not an array of integers.
        ValueError: the arrays have different numbers of dimensions, or do not broadcast.
    """
    a, places = as_array("take_along_axis", arr), _indices("take_along_axis", indices)
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("take_along_axis", axis, a.ndim)
    if a.ndim != places.ndim:
        raise ValueError(
            f"take_along_axis: indices of shape {places.shape} must have as many dimensions as the "
            f"array of shape {a.shape}{here()}"
        )
    wrap = wrap_negative_indices is not False
    options = Options("fill" if mode is None else mode, fill_value, wrap=wrap)
    return _along_axis(a, places, axis=axis, options=options)


@fused(static=("axis", "options"))
def _along_axis(a: Any, places: Any, axis: int, options: Options) -> Any:
    rest_a = a.shape[:axis] + a.shape[axis + 1 :]
    rest_i = places.shape[:axis] + places.shape[axis + 1 :]
    rest = broadcast_shapes("take_along_axis", rest_a, rest_i)
    if rest_a != rest:
        a = broadcast(a, (*rest[:axis], a.shape[axis], *rest[axis:]))
    if rest_i != rest:
        places = broadcast(places, (*rest[:axis], places.shape[axis], *rest[axis:]))
    places = wrapped(places, a.shape[axis], options.wrap)
    if not a.shape[axis] and options.mode is lax.GatherScatterMode.FILL_OR_DROP:
        a = lax.full([max(d, int(i == axis)) for i, d in enumerate(a.shape)], 0, a.dtype)
        places = lax.full_like(places, 1)  # out of bounds, as all are
    vectors = lax.reshape_p.bind(places, new_sizes=(*places.shape, 1))
    others = tuple([i for i in range(len(a.shape)) if i != axis])
    numbers = lax.GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return gathered(a, vectors, numbers, options)


@one_call("axis", "inplace", "mode")
def put_along_axis(
    arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None, inplace: bool = True,
    *, mode: str | None = None,
) -> Array:  # fmt: skip
    """``arr`` with ``values`` written along ``axis`` at ``indices``, as a new array.

    Raises:
        ValueError: ``inplace`` is not False, or numbers of dimensions differ.
    """
    not_in_place("put_along_axis", inplace)
    a, places = as_array("put_along_axis", arr), _indices("put_along_axis", indices)
    shape = a.shape
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("put_along_axis", axis, a.ndim)
    if a.ndim != places.ndim:
        raise ValueError(
            f"put_along_axis: indices of shape {places.shape} must have as many dimensions as the "
            f"array of shape {a.shape}{here()}"
        )
    others = tuple(1 if i == axis else d for i, d in enumerate(a.shape))
    full = broadcast_shapes("put_along_axis", places.shape, others)
    index = tuple(broadcast(places, full) if i == axis else lax.broadcasted_iota(INT32, full, i)
                  for i in range(a.ndim))  # fmt: skip
    return to_shape(IndexUpdateRef(a, index).set(values, mode=mode), shape)


def not_in_place(name: str, inplace: bool) -> None:
    """Raise if a function is to change its argument."""
    if inplace:
        raise ValueError(
            f"{name} cannot change an array in place: arrays are immutable. Pass inplace=False and "
            "use the result."
        )


def put(
    a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str | None = None, *, inplace: bool = True
) -> Array:
    """``a`` with ``v`` (repeated as needed) written at indices of the flattened array.

    Raises:
        ValueError: ``inplace`` is not False, or the mode is unknown.
        NotImplementedError: the mode is ``"raise"``.
    """
    not_in_place("put", inplace)
    a, places, values = as_array("put", a), _indices("put", ind), as_array("put", v, 2)
    places, values = to_shape(places, (places.size,)), to_shape(values, (values.size,))
    if not places.size or not values.size:
        return a
    if values.size < places.size:
        from ..manipulation.shapes import resize

        values = resize(values, (places.size,))
    values = lax.slice_in_dim(values, 0, places.size)
    if mode == "wrap":
        places, mode = _mod(places, a.size), None
    elif mode == "clip":
        places, mode = lax.clamp(number(places, 0), places, number(places, a.size - 1)), None
    elif mode is not None:
        error = NotImplementedError if mode == "raise" else ValueError
        raise error(f"put: mode must be 'clip', 'wrap' or None, got {mode!r}{here()}")
    flat = IndexUpdateRef(to_shape(a, (a.size,)), places).set(values)
    return to_shape(flat, a.shape)


def choose(a: ArrayLike, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """For each element of ``a``, the element of ``choices[a]`` at the same place.

    Raises:
        ValueError: the mode is unknown, or it is ``"raise"`` and an index is out of bounds.
        ConcretizationTypeError: the mode is ``"raise"``, and indices are traced.
    """
    no_out("choose", out)
    a = _indices("choose", a)
    if mode == "raise" and isinstance(a, Tracer):
        raise ConcretizationTypeError(
            f"choose{here()}: mode='raise' asks whether indices are out of bounds, and they are of "
            f"type {a.aval.str_short()}, traced. Give mode='wrap' or 'clip'."
        )
    rows: Sequence[Any] = list(choices) if isinstance(choices, (list, tuple)) else list(
        lax.unstack(as_array("choose", choices, 1)))  # fmt: skip
    if not rows:
        raise ValueError(f"choose needs at least one array of choices{here()}")
    values = promote("choose", *rows)
    n = len(values)
    if mode == "raise":
        known = np.asarray(a)
        if known.size and (known.min() < 0 or known.max() >= n):
            raise ValueError(f"choose: an index is out of bounds for {n} choices{here()}")
    elif mode == "wrap":
        a = _mod(a, n)
    elif mode == "clip":
        a = lax.clamp(number(a, 0), a, number(a, n - 1))
    else:
        raise ValueError(f"choose: mode must be 'raise', 'wrap' or 'clip', got {mode!r}{here()}")
    shape = broadcast_shapes("choose", a.shape, *(shape_of(v) for v in values))
    cases = [broadcast(as_array("choose", v), shape) for v in values]
    return strong(lax.select_n(broadcast(convert(a, INT32), shape), *cases))
