"""Lowering of reductions, and their regions: how two scalars of a kind are combined."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import element_type, i64_array
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
def combiner(kind: str, dtype: Any) -> str:
    """The region that combines two scalars of type ``dtype``.

    It is text that is the same wherever it occurs: its names occur nowhere else.
    """
    t = f"tensor<{element_type(dtype)}>"
    if dtype.kind == "c" and kind in ("max", "min"):
        body = _lexicographic("GT" if kind == "max" else "LT", t, element_type(real_part(dtype)))
    else:
        body = f'%red_z = "stablehlo.{_OPS[kind]}"(%red_x, %red_y) : ({t}, {t}) -> {t}\n'
    return (
        f'{{\n^bb0(%red_x: {t}, %red_y: {t}):\n{body}"stablehlo.return"(%red_z) : ({t}) -> ()\n}}'
    )


def _lexicographic(direction: str, t: str, element: str) -> str:
    """Selects by real parts and, where they are equal, by imaginary ones."""
    part = f"tensor<{element}>"
    lines = [
        f'%red_{p}{v} = "stablehlo.{op}"(%red_{v}) : ({t}) -> {part}'
        for p, op in (("r", "real"), ("i", "imag"))
        for v in "xy"
    ]
    for name, way, p in (("a", direction, "r"), ("b", "EQ", "r"), ("c", direction, "i")):
        lines.append(
            f'%red_{name} = "stablehlo.compare"(%red_{p}x, %red_{p}y) <{{comparison_direction = '
            f"#stablehlo<comparison_direction {way}>, compare_type = "
            f"#stablehlo<comparison_type FLOAT>}}> : ({part}, {part}) -> tensor<i1>"
        )
    bits = "(tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>"
    lines.append(f'%red_d = "stablehlo.select"(%red_b, %red_c, %red_a) : {bits}')
    lines.append(
        f'%red_z = "stablehlo.select"(%red_d, %red_x, %red_y) : (tensor<i1>, {t}, {t}) -> {t}'
    )
    return "\n".join(lines) + "\n"


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
        attrs = f"dimensions = {i64_array(axes)}"
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
