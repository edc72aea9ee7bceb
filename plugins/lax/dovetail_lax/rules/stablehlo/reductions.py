"""Lowering of reductions, and their regions: how two scalars of a kind are combined."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import Region, i64_array, shared_region
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray, cached

from ...element_types import kind_of
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
from ...primitives.values import real_part
from .kinds import compare, select

FLOAT32 = np.dtype(np.float32)
_OPS = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "and": "and",
    "or": "or", "xor": "xor",
}  # fmt: skip


@cached
def combiner(kind: str, dtype: Any) -> Region:
    """The region that combines two scalars of type ``dtype``."""
    scalar = ShapedArray((), dtype)

    def combine(b: Any, x: Any, y: Any) -> list[Any]:
        if dtype.kind == "c" and kind in ("max", "min"):
            return [_lexicographic(b, "GT" if kind == "max" else "LT", x, y)]
        return [b.op(f"stablehlo.{_OPS[kind]}", [x, y], scalar)]

    return shared_region([scalar, scalar], combine)


def _lexicographic(b: Any, direction: str, x: Any, y: Any) -> Any:
    """Selects by real parts and, where they are equal, by imaginary ones."""
    part = ShapedArray((), real_part(x.aval.dtype))
    (rx, ry), (ix, iy) = (
        [b.op(f"stablehlo.{op}", [v], part) for v in (x, y)] for op in ("real", "imag")
    )
    first, equal = compare(b, direction, rx, ry), compare(b, "EQ", rx, ry)
    wins = select(b, equal, compare(b, direction, ix, iy), first)
    return select(b, wins, x, y)


def accumulation_type(kind: str, dtype: Any) -> Any:
    """The type in which a reduction keeps partial results: single precision for sums and products
    of narrower floats, which would otherwise be rounded after each element."""
    narrow = kind in ("sum", "prod") and dtype.itemsize < 4 and kind_of(dtype) == "floating"
    return FLOAT32 if narrow else dtype


def _reduction(primitive: Primitive, kind: str) -> None:
    identity = IDENTITIES[kind]

    def rule(b: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        if not axes:
            return x
        out, dtype = b.out, accumulation_type(kind, x.aval.dtype)
        init = b.constant(identity(dtype), ShapedArray((), dtype))
        attrs = {"dimensions": i64_array(axes)}
        result = out if dtype == out.dtype else out.update(dtype=dtype)
        operands = [b.convert(x, dtype), init]
        reduced = b.op("stablehlo.reduce", operands, result, attrs, [combiner(kind, dtype)])
        return b.convert(reduced, out.dtype)

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
        attrs = {"dimensions": i64_array(axes)}
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
    attrs = {"dimensions": i64_array(dimensions)}
    return b.op("stablehlo.reduce", list(args), outs, attrs, [region])
