"""Transposition of arithmetic: sums, and products by what is known."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules
from dovetail_core import typeof

from ...primitives.arithmetic import add_p, div_p, mul_p, neg_p, sub_p
from ...primitives.conversion import convert_element_type_p
from ...primitives.rounding import reduce_precision_p
from . import kinds
from .kinds import known, unary, unbroadcast

transpose_rules.set(add_p, kinds.add)
transpose_rules.set(sub_p, kinds.sub)
unary(neg_p, lambda ct, x: neg_p.bind(ct))
unary(reduce_precision_p, lambda ct, x, **format: reduce_precision_p.bind(ct, **format))


@transpose_rules.register(mul_p)
def _mul(ct: Any, x: Any, y: Any, *, out_dtype: Any = None) -> list[Any]:
    if out_dtype is not None:
        return _mul_widened(ct, x, y)
    if is_linear(x):
        known("mul", 1, y)
        return [unbroadcast(mul_p.bind(ct, y), x), None]
    return [None, unbroadcast(mul_p.bind(x, ct), y)]


def _mul_widened(ct: Any, x: Any, y: Any) -> list[Any]:
    """The product by an operand that was converted first, in the cotangent's type."""
    unknown, factor = (x, y) if is_linear(x) else (y, x)
    known("mul", 1, factor)
    factor = convert_element_type_p.bind(factor, new_dtype=typeof(ct).dtype, weak_type=False)  # type: ignore[attr-defined]
    wide = unbroadcast(mul_p.bind(ct, factor), unknown)
    back = convert_element_type_p.bind(wide, new_dtype=unknown.aval.dtype, weak_type=False)
    return [back, None] if unknown is x else [None, back]


@transpose_rules.register(div_p)
def _div(ct: Any, x: Any, y: Any) -> list[Any]:
    known("div", 1, y)
    return [unbroadcast(div_p.bind(ct, y), x), None]
