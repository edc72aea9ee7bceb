"""Primitives that reduce sliding windows of an array (pooling), and those of their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from dovetail_core import ClosedJaxpr, Primitive, ShapedArray, here

from ..errors import ShapeError
from ..monoids import IDENTITIES
from .arithmetic import add_p, max_p, min_p, mul_p
from .decompositions import def_typed_decomposition, mapped, spread_scalar
from .discrete import ge_p
from .moves import padded
from .reductions import check_computation
from .shape import pad_p, slice_p
from .traits import describe
from .values import select_n_p
from .window_shapes import check_lengths, check_positive, dilated, window_counts

Pads = tuple[tuple[int, int], ...]


def windows_type(
    name: str,
    x: ShapedArray,
    window_dimensions: tuple[int, ...],
    window_strides: tuple[int, ...],
    padding: Pads,
    base_dilation: tuple[int, ...] | None = None,
    window_dilation: tuple[int, ...] | None = None,
) -> tuple[int, ...]:
    """The shape of one value per window.

    Raises:
        TypeError: the parameters have not one value per axis, or one is not positive.
    """
    n = len(x.shape)
    ones = (1,) * n
    base, window = base_dilation or ones, window_dilation or ones
    check_lengths(
        name, n, window_dimensions=window_dimensions, window_strides=window_strides,
        padding=padding, base_dilation=base, window_dilation=window,
    )  # fmt: skip
    check_positive(
        name, window_dimensions=window_dimensions, window_strides=window_strides,
        base_dilation=base, window_dilation=window,
    )  # fmt: skip
    return window_counts(x.shape, window_dimensions, window_strides, padding, base, window)


def _reduction(kind: str, combine: Callable[[Any, Any], Any]) -> Primitive:
    primitive = Primitive(f"reduce_window_{kind}")

    def rule(x: ShapedArray, **params: Any) -> ShapedArray:
        return ShapedArray(windows_type("reduce_window", x, **params), x.dtype, x.weak_type)

    def decomposition(x: Any, **params: Any) -> Any:
        identity = IDENTITIES[kind](x.dtype)
        result, *rest = _slices(padded_base(x, identity, **params), **params)
        for piece in rest:
            result = combine(result, piece)
        return result

    primitive.def_abstract_eval(rule)
    primitive.def_decomposition(decomposition)
    return primitive


def padded_base(
    x: Any, value: Any, *, padding: Pads, base_dilation: tuple[int, ...], **params: Any
) -> Any:
    """``x`` with its holes and pads filled with ``value``."""
    config = [(lo, hi, d - 1) for (lo, hi), d in zip(padding, base_dilation)]
    return padded(x, config, value)


def _slices(
    x: Any,
    *,
    window_dimensions: tuple[int, ...],
    window_strides: tuple[int, ...],
    window_dilation: tuple[int, ...],
    **params: Any,
) -> list[Any]:
    """The elements that windows have at each of their indices."""
    n = len(window_dimensions)
    counts = window_counts(
        x.shape, window_dimensions, window_strides, ((0, 0),) * n, (1,) * n, window_dilation
    )
    result: list[Any] = []
    for offset in product(*map(range, window_dimensions)):
        start = tuple([p * d for p, d in zip(offset, window_dilation)])
        # An axis on which the window has no position is cut at its start.
        limit = [s + dilated(c, t) if c else s for s, c, t in zip(start, counts, window_strides)]
        start = tuple([min(s, d) for s, d in zip(start, x.shape)])
        limit = tuple([min(e, d) for e, d in zip(limit, x.shape)])
        result.append(
            slice_p.bind(x, start_indices=start, limit_indices=limit, strides=window_strides)
        )
    return result


reduce_window_sum_p = _reduction("sum", add_p.bind)
reduce_window_prod_p = _reduction("prod", mul_p.bind)
reduce_window_max_p = _reduction("max", max_p.bind)
reduce_window_min_p = _reduction("min", min_p.bind)

reduce_window_p = Primitive("reduce_window", multiple_results=True)
"""Windows reduced by a program ``jaxpr`` of 2n scalars to n: operands and initial values go in."""


@reduce_window_p.def_abstract_eval
def _reduce_window_type(*avals: ShapedArray, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    operands, inits = avals[: len(avals) // 2], avals[len(avals) // 2 :]
    if any(x.shape != operands[0].shape for x in operands):
        result = ", ".join(x.str_short() for x in operands)
        raise ShapeError(
            f"lax.reduce_window takes operands of one shape, got {result}{here()}. Broadcast them "
            "first."
        )
    check_computation("reduce_window", jaxpr, operands, inits)
    shape = windows_type("reduce_window", operands[0], **params)
    return [ShapedArray(shape, x.dtype) for x in operands]


@def_typed_decomposition(reduce_window_p)
def _reduce_window_by_slices(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    n = len(args) // 2
    step = mapped(jaxpr)
    config = [(lo, hi, d - 1) for (lo, hi), d in zip(params["padding"], params["base_dilation"])]
    bases = [
        pad_p.bind(x, init, padding_config=tuple(config)) for x, init in zip(args[:n], args[n:])
    ]
    result: list[Any] = []
    for pieces in zip(*[_slices(x, **params) for x in bases]):
        result = result or [spread_scalar(init, pieces[0].shape) for init in args[n:]]
        result = step(*result, *pieces)
    return result


select_and_scatter_add_p = Primitive("select_and_scatter_add")
"""Adds each ``source[i]`` to where window ``i`` of ``operand`` has the element it selects."""


@select_and_scatter_add_p.def_abstract_eval
def _scatter_type(
    source: ShapedArray, operand: ShapedArray, *, select_prim: Primitive, **params: Any
) -> ShapedArray:
    shape = windows_type("select_and_scatter_add", operand, **params)
    if source.shape != shape or source.dtype != operand.dtype:
        raise TypeError(
            f"select_and_scatter_add got a source {source.str_short()}{here()}: these windows of "
            f"{operand.str_short()} need one of shape {shape} and dtype {operand.dtype}."
        )
    return operand.strong()


select_and_gather_add_p = Primitive("select_and_gather_add")
"""Per window of ``operand``, the tangent at the index of the element that it selects."""


@select_and_gather_add_p.def_abstract_eval
def _gather_type(
    tangents: ShapedArray, operand: ShapedArray, *, select_prim: Primitive, **params: Any
) -> ShapedArray:
    if tangents.shape != operand.shape or tangents.dtype != operand.dtype:
        raise TypeError(
            f"select_and_gather_add got tangents {tangents.str_short()} for an operand "
            f"{operand.str_short()}{here()}: they must have one shape and dtype."
        )
    shape = windows_type("select_and_gather_add", operand, **params)
    return ShapedArray(shape, operand.dtype)


@def_typed_decomposition(select_and_gather_add_p)
def _gather_by_slices(tangents: Any, operand: Any, *, select_prim: Primitive, **params: Any) -> Any:
    # Elements are compared in the order of the window, and the earlier one wins a tie: so do the
    # rules of this primitive and of select_and_scatter_add.
    worst = IDENTITIES["max" if select_prim is ge_p else "min"](operand.dtype)
    values = _slices(padded_base(operand, worst, **params), **params)
    moves = _slices(padded_base(tangents, 0, **params), **params)
    best, result = values[0], moves[0]
    for value, move in zip(values[1:], moves[1:]):
        keep = select_prim.bind(best, value)
        best = select_n_p.bind(keep, value, best)
        result = select_n_p.bind(keep, move, result)
    return result


describe(__name__)
