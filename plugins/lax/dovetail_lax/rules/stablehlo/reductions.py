"""Lowering of reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ...monoids import IDENTITIES, highest, lowest
from ...primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_xor_p,
)
from .combiners import combiner
from .kinds import compare, select


def _reduction(primitive: Primitive, kind: str) -> None:
    identity = IDENTITIES[kind]

    def rule(b: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        if not axes:
            return x
        dtype = x.aval.dtype
        init = b.constant(identity(dtype), ShapedArray((), dtype))
        attrs = f"dimensions = {i64_array(axes)}"
        return b.op("stablehlo.reduce", [x, init], b.out, attrs, [combiner(kind, dtype)])

    stablehlo_rules.set(primitive, rule)


_reduction(reduce_sum_p, "sum")
_reduction(reduce_prod_p, "prod")
_reduction(reduce_max_p, "max")
_reduction(reduce_min_p, "min")
_reduction(reduce_and_p, "and")
_reduction(reduce_or_p, "or")
_reduction(reduce_xor_p, "xor")

_BOOL = ShapedArray((), np.bool_)


def _argreduction(primitive: Primitive, direction: str, worst: Any) -> None:
    """Reduces pairs of value and place: the better value wins, NaN above all, then the place."""

    def better(b: Any, x: Any, i: Any, y: Any, j: Any) -> list[Any]:
        wins = compare(b, direction, x, y)
        nan = compare(b, "NE", x, x)
        wins = b.op("stablehlo.or", [wins, nan], _BOOL)
        tied = b.op("stablehlo.and", [compare(b, "EQ", x, y), compare(b, "LT", i, j)], _BOOL)
        first = b.op("stablehlo.or", [wins, tied], _BOOL)
        return [select(b, wins, x, y), select(b, first, i, j)]

    def rule(b: Any, x: Any, *, axes: tuple[int, ...], index_dtype: Any) -> Any:
        value, place = ShapedArray((), x.aval.dtype), ShapedArray((), index_dtype)
        out = b.out
        places = b.op(
            "stablehlo.iota",
            [],
            ShapedArray(x.aval.shape, index_dtype),
            f"iota_dimension = {axes[0]} : i64",
        )
        inits = [b.constant(worst(x.aval.dtype), value), b.constant(0, place)]
        region = b.region([value, place, value, place], better)
        outs = [ShapedArray(out.shape, x.aval.dtype), out]
        attrs = f"dimensions = {i64_array(axes)}"
        return b.op("stablehlo.reduce", [x, places, *inits], outs, attrs, [region])[1]

    stablehlo_rules.set(primitive, rule)


_argreduction(argmax_p, "GT", lowest)
_argreduction(argmin_p, "LT", highest)


@stablehlo_rules.register(reduce_p)
def _reduce(b: Any, *args: Any, jaxpr: ClosedJaxpr, dimensions: tuple[int, ...]) -> list[Any]:
    if not dimensions:
        return list(args[: len(args) // 2])
    scalars = [x.aval.strong() for x in args[len(args) // 2 :]] * 2
    outs = list(b.outs)
    region = b.region(scalars, lambda b, *xs: b.inline(jaxpr, xs))
    attrs = f"dimensions = {i64_array(dimensions)}"
    return b.op("stablehlo.reduce", list(args), outs, attrs, [region])
