"""Lowering of sorts and of the largest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import dense, i64_array, tensor_type
from dovetail_core import ShapedArray

from ...dtypes import kind_of
from ...primitives.sorting import sort_p, top_k_p
from ...primitives.values import real_part
from .kinds import compare, select

_BOOL = ShapedArray((), np.bool_)


@stablehlo_rules.register(sort_p)
def _sort(b: Any, *operands: Any, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    outs = list(b.outs)
    scalars = [ShapedArray((), x.aval.dtype) for x in operands for _ in range(2)]

    def before(b: Any, *pairs: Any) -> list[Any]:
        keys: list[tuple[Any, Any]] = []
        for i in range(num_keys):
            x, y = (_keys(b, v) for v in pairs[2 * i : 2 * i + 2])
            keys += zip(x, y)
        return [_lexicographic(b, keys)]

    region = b.region(scalars, before)
    attrs = f"dimension = {dimension} : i64, is_stable = {'true' if is_stable else 'false'}"
    return b.op("stablehlo.sort", list(operands), outs, attrs, [region])


def _keys(b: Any, x: Any) -> list[Any]:
    """The values by which ``x`` is compared.

    Floats with one zero and one NaN; of complex numbers masks of the parts that are NaN, and the
    parts.
    """
    kind = kind_of(x.aval.dtype)
    if kind == "complex":
        part = ShapedArray((), real_part(x.aval.dtype))
        parts = [b.op(f"stablehlo.{op}", [x], part) for op in ("real", "imag")]
        return [compare(b, "NE", p, p) for p in parts] + [_canonical(b, p) for p in parts]
    return [_canonical(b, x) if kind == "floating" else x]


def _canonical(b: Any, x: Any) -> Any:
    zero = _own_constant(b, 0, x.aval)
    result = select(b, compare(b, "EQ", x, zero), zero, x)
    nan = compare(b, "NE", x, x)
    return select(b, nan, _own_constant(b, np.nan, x.aval), result)


def _own_constant(b: Any, value: Any, aval: ShapedArray) -> Any:
    """A constant inside of the region: comparators cannot use values from outside."""
    text = dense(np.asarray(value, aval.dtype))
    return b.op("stablehlo.constant", [], aval, f"value = {text} : {tensor_type(aval)}")


def _lexicographic(b: Any, keys: Sequence[tuple[Any, Any]]) -> Any:
    """True if the first keys come before the second."""
    result = None
    for x, y in reversed(keys):
        order = "TOTALORDER" if kind_of(x.aval.dtype) == "floating" else ""
        less = compare(b, "LT", x, y, order)
        if result is not None:
            equal = compare(b, "EQ", x, y, order)
            result = b.op("stablehlo.and", [equal, result], _BOOL)
            less = b.op("stablehlo.or", [less, result], _BOOL)
        result = less
    return result


@stablehlo_rules.register(top_k_p)
def _top_k(b: Any, x: Any, *, k: int, axis: int) -> list[Any]:
    outs, last = list(b.outs), len(x.aval.shape) - 1
    attrs = f"k = {k} : i64"
    if axis == last:
        return b.op("chlo.top_k", [x], outs, attrs)
    # The operation works along the last axis; exchanging two axes is its own inverse.
    order = list(range(last + 1))
    order[axis], order[last] = last, axis
    moved = f"permutation = {i64_array(order)}"

    def exchanged(aval: ShapedArray) -> ShapedArray:
        return ShapedArray(tuple([aval.shape[i] for i in order]), aval.dtype)

    y = b.op("stablehlo.transpose", [x], exchanged(x.aval), moved)
    result = b.op("chlo.top_k", [y], [exchanged(o) for o in outs], attrs)
    return [b.op("stablehlo.transpose", [v], o, moved) for v, o in zip(result, outs)]
