"""Public functions that read or update many windows of an array: gather, index_take, scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.arguments import items
from dovetail_base.source import called, not_callable, short_repr
from dovetail_core import (
    ExtendedDType,
    Primitive,
    ShapedArray,
    canonical_dtype,
    here,
    is_inexact,
    stage_closed,
)

from ..dtypes import dtype_of, iinfo
from ..primitives.arithmetic import add_p, rem_p
from ..primitives.discrete import lt_p
from ..primitives.gather import (
    ScatterDimensionNumbers,
    as_gather,
    gather_p,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
    window_sizes,
)
from ..primitives.indexing import GatherDimensionNumbers, GatherScatterMode
from ..primitives.moves import full
from ..primitives.shape import concatenate_p
from ..primitives.values import convert_element_type_p, select_n_p
from ..scalars import PYTHON_SCALARS, adapt
from .broadcasting import expand_dims
from .operands import Array, ArrayLike, axes_in, ints, shape_of


def gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Array:
    """Windows of ``operand`` that begin at ``start_indices``.

    Args:
        start_indices: integers; the last axis holds index vectors.
        dimension_numbers: see :class:`GatherDimensionNumbers`.
        slice_sizes: the shape of a window, one size for each axis of ``operand``.
        unique_indices: a promise that no element is read twice.
        indices_are_sorted: a promise that index vectors are in lexicographic order.
        mode: the treatment of windows that are partly outside: ``"clip"``, ``"fill"``,
            ``"promise_in_bounds"`` (the default), ``"one_hot"``, or a :class:`GatherScatterMode`.
        fill_value: for mode ``"fill"``: a scalar; NaN by default for inexact dtypes, the least
            value of signed integers, the greatest of unsigned ones, True for booleans.

    Raises:
        TypeError: shapes and dimension numbers do not fit together.
        ValueError: there is no such mode.
    """
    how = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else GatherScatterMode.from_any(mode)
    fill = None
    if how is GatherScatterMode.FILL_OR_DROP:
        fill = _fill_value(dtype_of(operand), fill_value)
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=GatherDimensionNumbers(
            *[items("dimension_numbers", d) for d in dimension_numbers]
        ),
        slice_sizes=ints("gather", "slice_sizes", slice_sizes),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=how,
        fill_value=fill,
    )


def _fill_value(dtype: Any, given: Any) -> Any:
    """The fill value as a Python scalar (one object for NaN, for NaN does not equal itself)."""
    if isinstance(dtype, ExtendedDType):  # of each array that its values are made of
        dtype = dtype.low[0]
    if given is None:
        if is_inexact(dtype):
            return np.nan
        if dtype.kind == "b":
            return True
        info: Any = iinfo(dtype)
        return int(info.min if info.min < 0 else info.max)
    value = np.asarray(given)
    if value.shape != ():
        raise TypeError(
            f"lax.gather got a fill_value of shape {value.shape}{here()}: it must be a scalar. "
            "Select from the result where the indices are out of bounds instead."
        )
    try:
        plain = value.astype(dtype).item()
    except (TypeError, ValueError):
        raise TypeError(f"fill_value must be a number, got {short_repr(given)}{called()}") from None
    return np.nan if plain != plain and dtype.kind != "c" else plain


def index_take(src: ArrayLike, idxs: Sequence[ArrayLike], axes: Sequence[int]) -> Array:
    """``src`` at given indices along some axes; indices wrap around.

    Args:
        idxs: for each of ``axes`` an integer array with one axis, all of one length.

    Returns:
        An array whose first axis is that of the indices; the others of ``src`` follow in order.

    Raises:
        TypeError: there is not one array of one axis for each of ``axes``.
    """
    shape = shape_of(src)
    dims = axes_in("index_take", "axes", axes, len(shape))
    if len(idxs) != len(dims) or any(len(shape_of(i)) != 1 for i in idxs) or not dims:
        raise TypeError(
            f"lax.index_take got indices of shapes {', '.join(str(shape_of(i)) for i in idxs)} for "
            f"axes {dims}{here()}. Give an array with one axis for each of them."
        )
    columns = [expand_dims(_wrapped(i, shape[d]), (1,)) for i, d in zip(idxs, dims)]
    indices = columns[0] if len(columns) == 1 else concatenate_p.bind(*columns, dimension=1)
    order = tuple(sorted(dims))
    return gather(
        src,
        indices,
        GatherDimensionNumbers(tuple(range(1, len(shape) - len(dims) + 1)), order, dims),
        [1 if i in dims else n for i, n in enumerate(shape)],
    )


def _wrapped(index: Any, size: int) -> Any:
    """``index`` modulo ``size``: the remainder has the sign of ``index``, so ``size`` is added."""
    if dtype_of(index).itemsize < 4:  # of which the size may be no number
        index = convert_element_type_p.bind(index, new_dtype=np.dtype(np.int32), weak_type=False)
    dtype = dtype_of(index)
    scalar = canonical_dtype(dtype).type(size)
    left = rem_p.bind(index, scalar)
    if dtype.kind == "u":
        return left
    return select_n_p.bind(lt_p.bind(left, dtype.type(0)), left, add_p.bind(left, scalar))


Mode = str | GatherScatterMode | None


def _scatter_numbers(given: Any) -> ScatterDimensionNumbers:
    if not isinstance(given, ScatterDimensionNumbers):
        raise TypeError(
            "dimension_numbers of a scatter must be lax.ScatterDimensionNumbers, got "
            f"{short_repr(given)}{called()}"
        )
    return ScatterDimensionNumbers(
        *[arguments.integers(name, axes) for name, axes in given._asdict().items()]
    )


def _bind(
    primitive: Primitive,
    operand: Any,
    indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Mode,
    **update: Any,
) -> Any:
    if updates.__class__ in PYTHON_SCALARS:
        updates = adapt(updates, dtype_of(operand))
    return primitive.bind(
        operand,
        indices,
        updates,
        dimension_numbers=_scatter_numbers(dimension_numbers),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
        **update,
    )


def scatter(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with windows replaced by ``updates``.

    Where windows overlap, which update is kept is unspecified.

    Args:
        scatter_indices: integers; the last axis holds index vectors: where windows start.
        updates: of the operand's dtype; its shape is that of the indices without the last axis,
            with the window's axes put in at ``update_window_dims``.
        dimension_numbers: see :class:`ScatterDimensionNumbers`.
        indices_are_sorted: a promise that index vectors are in lexicographic order.
        unique_indices: a promise that no two windows overlap. Needed to differentiate
            ``scatter_mul`` and ``scatter_apply``.
        mode: the treatment of windows that are partly outside: ``"drop"`` (the default) ignores
            them, ``"clip"`` moves them inside, ``"promise_in_bounds"`` promises that there are
            none.

    Raises:
        TypeError: dtypes, shapes and dimension numbers do not fit together.
        ValueError: there is no such mode.
    """
    return _bind(scatter_p, operand, scatter_indices, updates, dimension_numbers,
                 indices_are_sorted, unique_indices, mode)  # fmt: skip


def scatter_add(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with ``updates`` added to windows; see :func:`scatter`."""
    return _bind(scatter_add_p, operand, scatter_indices, updates, dimension_numbers,
                 indices_are_sorted, unique_indices, mode)  # fmt: skip


def scatter_sub(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with ``updates`` subtracted from windows; see :func:`scatter`."""
    return _bind(scatter_sub_p, operand, scatter_indices, updates, dimension_numbers,
                 indices_are_sorted, unique_indices, mode)  # fmt: skip


def scatter_mul(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with windows multiplied by ``updates``; see :func:`scatter`."""
    return _bind(scatter_mul_p, operand, scatter_indices, updates, dimension_numbers,
                 indices_are_sorted, unique_indices, mode)  # fmt: skip


def scatter_min(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with windows replaced by the minimum with ``updates``; see :func:`scatter`."""
    return _bind(scatter_min_p, operand, scatter_indices, updates, dimension_numbers,
                 indices_are_sorted, unique_indices, mode)  # fmt: skip


def scatter_max(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with windows replaced by the maximum with ``updates``; see :func:`scatter`."""
    return _bind(scatter_max_p, operand, scatter_indices, updates, dimension_numbers,
                 indices_are_sorted, unique_indices, mode)  # fmt: skip


def scatter_apply(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    func: Callable[[Array], ArrayLike],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """``operand`` with ``func`` applied to the elements of windows.

    Args:
        func: elementwise, keeps the dtype. Where windows overlap it is applied repeatedly.
        update_shape: the shape that updates would have; see :func:`scatter`.

    With ``unique_indices`` this is differentiable, and ``func`` may close over traced values.
    """
    dn = ScatterDimensionNumbers(*map(tuple, dimension_numbers))
    if not callable(func):
        raise not_callable("func", func)
    shape = ints("scatter_apply", "update_shape", update_shape)
    dtype = dtype_of(operand)
    if unique_indices:
        read = gather_p.bind(
            operand,
            scatter_indices,
            dimension_numbers=as_gather(dn),
            slice_sizes=window_sizes(shape_of(operand), shape, dn),
            indices_are_sorted=bool(indices_are_sorted),
            unique_indices=False,  # clipping may make them equal
            mode=GatherScatterMode.CLIP,  # values read for windows outside are dropped
            fill_value=None,
        )
        return _bind(scatter_p, operand, scatter_indices, func(read), dn,
                     indices_are_sorted, True, mode)  # fmt: skip
    program = stage_closed(lambda x: [func(x)], [ShapedArray((), dtype)], "scatter_apply")
    return _bind(scatter_apply_p, operand, scatter_indices, full(shape, 0, dtype), dn,
                 indices_are_sorted, unique_indices, mode, update=program)  # fmt: skip
