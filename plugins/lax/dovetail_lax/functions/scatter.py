"""Public functions that update many windows of an array: the scatter family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base import arguments
from dovetail_base.source import called, not_callable, short_repr
from dovetail_core import Primitive, ShapedArray, stage_closed

from ..dtypes import dtype_of
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
from ..primitives.indexing import GatherScatterMode
from ..primitives.moves import full
from ..scalars import PYTHON_SCALARS, adapt
from ._args import Array, ArrayLike
from ._shapes import ints, shape_of

Mode = str | GatherScatterMode | None


def _canonical(given: Any) -> ScatterDimensionNumbers:
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
        dimension_numbers=_canonical(dimension_numbers),
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
        mode: what windows mean that are partly outside: ``"drop"`` (the default) ignores them,
            ``"clip"`` moves them inside, ``"promise_in_bounds"`` says that there are none.

    Raises:
        TypeError: dtypes, shapes and dimension numbers do not fit together; says which.
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
            mode=GatherScatterMode.CLIP,  # what is read in place of what is outside is dropped
            fill_value=None,
        )
        return _bind(scatter_p, operand, scatter_indices, func(read), dn,
                     indices_are_sorted, True, mode)  # fmt: skip
    program = stage_closed(lambda x: [func(x)], [ShapedArray((), dtype)], "scatter_apply")
    return _bind(scatter_apply_p, operand, scatter_indices, full(shape, 0, dtype), dn,
                 indices_are_sorted, unique_indices, mode, update=program)  # fmt: skip
