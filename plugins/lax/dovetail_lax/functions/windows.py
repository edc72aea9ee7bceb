"""Public functions that reduce sliding windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base.arguments import integers
from dovetail_base.foreign import reword_errors
from dovetail_tree.util import tree_flatten, tree_unflatten

from ..primitives.window_shapes import dilated, pads_of, window_counts
from ..primitives.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_p,
    reduce_window_prod_p,
    reduce_window_sum_p,
)
from .operands import check
from .reductions import initial_values, kind_of_monoid, staged

_PRIMITIVES = {
    "sum": reduce_window_sum_p,
    "prod": reduce_window_prod_p,
    "max": reduce_window_max_p,
    "min": reduce_window_min_p,
}


@reword_errors
def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Reduce the elements at each position of a window that slides over arrays (pooling).

    Args:
        operand: an array or a tree of arrays of one shape.
        init_value: scalars that ``computation`` leaves as they are, in the same tree; they fill
            pads and holes.
        computation: an associative function of two scalars (or two trees of scalars).
        window_dimensions: the window's size on each axis.
        window_strides: how far it moves; one by default.
        padding: ``"VALID"`` (none), ``"SAME"`` (as many positions as strides fit into the axis),
            ``"SAME_LOWER"``, or ``(low, high)`` per axis; negative numbers cut off.
        base_dilation: one more than the holes between elements.
        window_dilation: one more than the holes between a window's elements.

    Raises:
        RuntimeError: the padding's name is unknown.
        TypeError: initial values do not fit, the computation returns other types, or a parameter
            has not one positive value per axis.
        ValueError: operands' shapes differ.
    """
    arrays, tree = tree_flatten(operand)
    inits = initial_values("reduce_window", arrays, tree, init_value)
    shape = check("reduce_window", arrays[0]).shape
    params = window_params(
        shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
    )
    if len(arrays) == 1:
        dtype = check("reduce_window", arrays[0]).dtype
        known = _PRIMITIVES.get(kind_of_monoid(computation, inits[0], dtype) or "")
        if known is not None:
            return tree_unflatten(tree, [known.bind(arrays[0], **params)])
    program, out_tree = staged("reduce_window", computation, arrays, tree)
    result = reduce_window_p.bind(*arrays, *inits, jaxpr=program, **params)
    return tree_unflatten(out_tree, result)


def window_params(
    shape: tuple[int, ...],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None,
    padding: Any,
    base_dilation: Sequence[int] | None,
    window_dilation: Sequence[int] | None,
) -> dict[str, Any]:
    """The parameters of a primitive that slides windows, with the defaults filled in."""
    window = integers("window_dimensions", window_dimensions)
    ones = (1,) * len(window)
    strides = ones if window_strides is None else integers("window_strides", window_strides)
    base = ones if base_dilation is None else integers("base_dilation", base_dilation)
    holes = ones if window_dilation is None else integers("window_dilation", window_dilation)
    if isinstance(padding, str):
        padding = _named(padding, shape, window, strides, base, holes)
    return {
        "window_dimensions": window,
        "window_strides": strides,
        "padding": tuple([integers("p", p) for p in padding]),
        "base_dilation": base,
        "window_dilation": holes,
    }


def _named(
    padding: str,
    shape: tuple[int, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    base: tuple[int, ...],
    holes: tuple[int, ...],
) -> list[tuple[int, int]]:
    sizes = [dilated(d, b) for d, b in zip(shape, base)]
    spans = [dilated(w, h) for w, h in zip(window, holes)]
    if len(sizes) != len(window) or any(s < 1 for s in strides):
        return [(0, 0)] * len(window)  # the primitive's type rule reports it
    return pads_of(padding, sizes, spans, strides)


@reword_errors
def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of one value per position of a window that slides over an array."""
    ones = (1,) * len(operand_shape)
    return window_counts(
        operand_shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation or ones,
        window_dilation or ones,
    )
