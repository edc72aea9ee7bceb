"""Lowering of windowed reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ...monoids import IDENTITIES
from ...primitives.discrete import ge_p
from ...primitives.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_p,
    reduce_window_prod_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from .kinds import compare, pad_attributes, select
from .reductions import Axes, combiner, reduced_over_windows, windows_reduced

_BOOL = ShapedArray((), np.bool_)


def _windows(primitive: Primitive, kind: str) -> None:
    def rule(b: Any, x: Any, **params: Any) -> Any:
        return reduced_over_windows(b, x, kind, **params) if x.aval.shape else x

    stablehlo_rules.set(primitive, rule)


_windows(reduce_window_sum_p, "sum")
_windows(reduce_window_prod_p, "prod")
_windows(reduce_window_max_p, "max")
_windows(reduce_window_min_p, "min")


@stablehlo_rules.register(reduce_window_p)
def _reduce_window(b: Any, *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    xs, inits = list(args[: len(args) // 2]), list(args[len(args) // 2 :])
    scalars = [x.aval.strong() for x in inits] * 2
    region = b.region(scalars, lambda b, *xs: b.inline(jaxpr, xs))
    return windows_reduced(b, xs, inits, list(b.outs), region, **params)


@stablehlo_rules.register(select_and_gather_add_p)
def _select_and_gather_add(
    b: Any, tangents: Any, operand: Any, *, select_prim: Primitive, **params: Any
) -> Any:
    """Reduce triples of element, index and tangent to the selected one.

    Compilers combine elements of a window in any order: without indices, ties would be decided
    otherwise than in the transpose.
    """
    direction = "GT" if select_prim is ge_p else "LT"
    dtype, out = operand.aval.dtype, b.out
    scalar, position = ShapedArray((), dtype), ShapedArray((), np.int32)

    def better(b: Any, x: Any, i: Any, t: Any, y: Any, j: Any, u: Any) -> list[Any]:
        tied = b.op("stablehlo.and", [compare(b, "EQ", x, y), compare(b, "LT", i, j)], _BOOL)
        keep = b.op("stablehlo.or", [compare(b, direction, x, y), tied], _BOOL)
        return [select(b, keep, x, y), select(b, keep, i, j), select(b, keep, t, u)]

    count = operand.aval.size
    row = b.op("stablehlo.iota", [], ShapedArray((count,), np.int32), "iota_dimension = 0 : i64")
    positions = b.op("stablehlo.reshape", [row], ShapedArray(operand.aval.shape, np.int32))
    worst = IDENTITIES["max" if direction == "GT" else "min"](dtype)
    inits = [b.constant(worst, scalar), b.constant(count, position), b.constant(0, scalar)]
    region = b.region([scalar, position, scalar] * 2, better)
    outs = [out, ShapedArray(out.shape, np.int32), out]
    return windows_reduced(b, [operand, positions, tangents], inits, outs, region, **params)[2]


@stablehlo_rules.register(select_and_scatter_add_p)
def _select_and_scatter_add(
    b: Any,
    source: Any,
    operand: Any,
    *,
    select_prim: Primitive,
    window_dimensions: Axes,
    window_strides: Axes,
    padding: tuple[tuple[int, int], ...],
) -> Any:
    # XLA expands neither operations on scalars nor ones without windows.
    if not operand.aval.shape:
        return source
    if source.aval.size == 0:
        return b.constant(0, b.out)
    # Pads are written out, because they must take part in the selection as the worst value.
    direction = "GE" if select_prim is ge_p else "LE"
    dtype = operand.aval.dtype
    scalar = ShapedArray((), dtype)
    zero, out = b.constant(0, scalar), b.out
    worst = b.constant(IDENTITIES["max" if direction == "GE" else "min"](dtype), scalar)
    low, high = [lo for lo, _ in padding], [hi for _, hi in padding]
    shape = tuple([d + lo + hi for d, lo, hi in zip(out.shape, low, high)])
    wide = ShapedArray(shape, dtype)
    x = operand if shape == out.shape and not any(low) else b.op(
        "stablehlo.pad", [operand, worst], wide, pad_attributes(low, high, [0] * len(low))
    )  # fmt: skip
    region = b.region([scalar, scalar], lambda b, u, v: [compare(b, direction, u, v)])
    attrs = (
        f"window_dimensions = {i64_array(window_dimensions)}, "
        f"window_strides = {i64_array(window_strides)}"
    )
    result = b.op(
        "stablehlo.select_and_scatter", [x, source, zero], wide, attrs,
        [region, combiner("sum", dtype)],
    )  # fmt: skip
    if x is operand:
        return result
    # Negative pads cut off; to take them back is to fill with zeros.
    back = pad_attributes([-lo for lo in low], [-hi for hi in high], [0] * len(low))
    return b.op("stablehlo.pad", [result, zero], out, back)
