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
    """``a`` at integer indices along one axis, by one gather."""
    options = options or Options("clip")
    shape = indices.shape
    positions = (
        wrapped(indices, a.shape[axis], options.wrap) if hasattr(indices, "aval") else indices
    )
    vectors = to_shape(as_array("take", positions), (*shape, 1))
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
    a, positions = as_array("take", a), _indices("take", indices)
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("take", axis, a.ndim)
    if mode is not None and mode.__class__ is not str:
        arguments.hashable("mode", mode)
    if mode == "wrap":
        positions, mode = _mod(positions, max(a.shape[axis], 1)), "promise_in_bounds"
    elif mode == "clip":
        # Negative indices are clipped, too, as by NumPy.
        options = Options("clip", None, indices_are_sorted, unique_indices, False)
        return _take(a, positions, axis=axis, options=options)
    elif mode == "raise":
        raise NotImplementedError(
            f"take: mode 'raise' is not supported; use 'fill', 'clip' or 'wrap'{here()}"
        )
    options = Options(mode or "fill", fill_value, indices_are_sorted, unique_indices)
    return _take(a, positions, axis=axis, options=options)


def _mod(positions: Any, size: int) -> Any:
    from ..ufuncs.arithmetic import REMAINDER

    return REMAINDER(convert(positions, index_dtype(positions.dtype)), size)


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
    a, positions = as_array("take_along_axis", arr), _indices("take_along_axis", indices)
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("take_along_axis", axis, a.ndim)
    if a.ndim != positions.ndim:
        raise ValueError(
            f"take_along_axis: indices of shape {positions.shape} must have as many dimensions as "
            f"the array of shape {a.shape}{here()}"
        )
    wrap = wrap_negative_indices is not False
    options = Options("fill" if mode is None else mode, fill_value, wrap=wrap)
    return _along_axis(a, positions, axis=axis, options=options)


@fused(static=("axis", "options"))
def _along_axis(a: Any, positions: Any, axis: int, options: Options) -> Any:
    rest_a = a.shape[:axis] + a.shape[axis + 1 :]
    rest_i = positions.shape[:axis] + positions.shape[axis + 1 :]
    rest = broadcast_shapes("take_along_axis", rest_a, rest_i)
    if rest_a != rest:
        a = broadcast(a, (*rest[:axis], a.shape[axis], *rest[axis:]))
    if rest_i != rest:
        positions = broadcast(positions, (*rest[:axis], positions.shape[axis], *rest[axis:]))
    positions = wrapped(positions, a.shape[axis], options.wrap)
    if not a.shape[axis] and options.mode is lax.GatherScatterMode.FILL_OR_DROP:
        a = lax.full([max(d, int(i == axis)) for i, d in enumerate(a.shape)], 0, a.dtype)
        positions = lax.full_like(positions, 1)  # out of bounds, as all are
    vectors = lax.reshape_p.bind(positions, new_sizes=(*positions.shape, 1))
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
    a, positions = as_array("put_along_axis", arr), _indices("put_along_axis", indices)
    shape = a.shape
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("put_along_axis", axis, a.ndim)
    if a.ndim != positions.ndim:
        raise ValueError(
            f"put_along_axis: indices of shape {positions.shape} must have as many dimensions as "
            f"the array of shape {a.shape}{here()}"
        )
    others = tuple(1 if i == axis else d for i, d in enumerate(a.shape))
    full = broadcast_shapes("put_along_axis", positions.shape, others)
    index = tuple(broadcast(positions, full) if i == axis else lax.broadcasted_iota(INT32, full, i)
                  for i in range(a.ndim))  # fmt: skip
    return to_shape(IndexUpdateRef(a, index).set(values, mode=mode), shape)


def not_in_place(name: str, inplace: bool) -> None:
    """Raise a ValueError if a function is to change its argument."""
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
    a, positions, values = as_array("put", a), _indices("put", ind), as_array("put", v, 2)
    positions, values = to_shape(positions, (positions.size,)), to_shape(values, (values.size,))
    if not positions.size or not values.size:
        return a
    if values.size < positions.size:
        from ..manipulation.shapes import resize

        values = resize(values, (positions.size,))
    values = lax.slice_in_dim(values, 0, positions.size)
    if mode == "wrap":
        positions, mode = _mod(positions, a.size), None
    elif mode == "clip":
        positions, mode = (
            lax.clamp(number(positions, 0), positions, number(positions, a.size - 1)),
            None,
        )
    elif mode is not None:
        error = NotImplementedError if mode == "raise" else ValueError
        raise error(f"put: mode must be 'clip', 'wrap' or None, got {mode!r}{here()}")
    flat = IndexUpdateRef(to_shape(a, (a.size,)), positions).set(values)
    return to_shape(flat, a.shape)


def choose(a: ArrayLike, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """For each element of ``a``, the element of ``choices[a]`` at the same index.

    Raises:
        ValueError: the mode is unknown, or it is ``"raise"`` and an index is out of bounds.
        ConcretizationTypeError: the mode is ``"raise"``, and indices are traced.
    """
    no_out("choose", out)
    a = _indices("choose", a)
    if mode == "raise" and isinstance(a, Tracer):
        raise ConcretizationTypeError(
            f"choose{here()}: mode='raise' checks whether indices are out of bounds, and they are "
            f"of type {a.aval.str_short()}, traced. Give mode='wrap' or 'clip'."
        )
    rows: Sequence[Any] = list(choices) if isinstance(choices, (list, tuple)) else list(
        lax.unstack(as_array("choose", choices, 1)))  # fmt: skip
    if not rows:
        raise ValueError(f"choose needs at least one array of choices{here()}")
    values = promote("choose", *rows)
    n = len(values)
    if mode == "raise":
        concrete = np.asarray(a)
        if concrete.size and (concrete.min() < 0 or concrete.max() >= n):
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
