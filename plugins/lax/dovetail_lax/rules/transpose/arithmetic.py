"""Transposition of arithmetic, also on complex numbers, and makers of such rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dovetail_ad import is_linear, transpose_rules
from dovetail_core import MissingRule, Primitive, here, typeof

from ...dtypes import kind_of
from ...primitives.arithmetic import add_p, div_p, mul_p, neg_p, sub_p
from ...primitives.discrete import reduce_precision_p
from ...primitives.values import complex_p, conj_p, convert_element_type_p, imag_p, real_p
from ...scalars import scalar


def unary(primitive: Primitive, transposed: Callable[..., Any]) -> None:
    """Add the rule of an operation linear in its operand: ``transposed(ct, x, **params)``."""

    def rule(ct: Any, x: Any, **params: Any) -> list[Any]:
        return [transposed(ct, x, **params)]

    transpose_rules.set(primitive, rule)


def refuse_linear(name: str, operand: int) -> NoReturn:
    """Raise MissingRule: several operands of ``name`` are unknown, this one and others."""
    raise MissingRule(
        f"{name} is not linear in operand {operand} beside the others{here()}, so that the "
        "function that is being transposed is not linear. Transpose its derivative (see linearize) "
        "instead."
    )


def unbroadcast(ct: Any, operand: Any) -> Any:
    """A cotangent of the result's shape, for an operand that may have been a scalar beside it."""
    shape = operand.aval.shape
    if ct.shape == shape:
        return ct
    from ...primitives.reductions import reduce_sum_p

    axes = tuple(range(len(ct.shape)))
    return reduce_sum_p.bind(ct, axes=axes)


def add(ct: Any, x: Any, y: Any) -> list[Any]:
    """The rule of a sum."""
    return [
        unbroadcast(ct, x) if is_linear(x) else None,
        unbroadcast(ct, y) if is_linear(y) else None,
    ]


def sub(ct: Any, x: Any, y: Any) -> list[Any]:
    """The rule of a difference."""
    return [
        unbroadcast(ct, x) if is_linear(x) else None,
        neg_p.bind(unbroadcast(ct, y)) if is_linear(y) else None,
    ]


transpose_rules.set(add_p, add)
transpose_rules.set(sub_p, sub)
unary(neg_p, lambda ct, x: neg_p.bind(ct))
unary(reduce_precision_p, lambda ct, x, **format: reduce_precision_p.bind(ct, **format))


@transpose_rules.register(mul_p)
def _mul(ct: Any, x: Any, y: Any, *, out_dtype: Any = None) -> list[Any]:
    if out_dtype is not None:
        return _mul_widened(ct, x, y)
    if is_linear(x):
        if is_linear(y):
            refuse_linear("mul", 1)
        return [unbroadcast(mul_p.bind(ct, y), x), None]
    return [None, unbroadcast(mul_p.bind(x, ct), y)]


def _mul_widened(ct: Any, x: Any, y: Any) -> list[Any]:
    """The product by an operand that was converted first, in the cotangent's type."""
    unknown, factor = (x, y) if is_linear(x) else (y, x)
    if is_linear(factor):
        refuse_linear("mul", 1)
    factor = convert_element_type_p.bind(factor, new_dtype=typeof(ct).dtype, weak_type=False)  # type: ignore[attr-defined]
    wide = unbroadcast(mul_p.bind(ct, factor), unknown)
    back = convert_element_type_p.bind(wide, new_dtype=unknown.aval.dtype, weak_type=False)
    return [back, None] if unknown is x else [None, back]


@transpose_rules.register(div_p)
def _div(ct: Any, x: Any, y: Any) -> list[Any]:
    if is_linear(y):
        refuse_linear("div", 1)
    return [unbroadcast(div_p.bind(ct, y), x), None]


def _imag(ct: Any, x: Any) -> Any:
    return complex_p.bind(scalar(0.0, ct.dtype), neg_p.bind(ct))


def _conj(ct: Any, x: Any) -> Any:
    ct = conj_p.bind(ct)
    return ct if kind_of(x.aval.dtype) == "complex" else real_p.bind(ct)


unary(real_p, lambda ct, x: complex_p.bind(ct, scalar(0.0, ct.dtype)))
unary(imag_p, _imag)
unary(conj_p, _conj)


@transpose_rules.register(complex_p)
def _complex(ct: Any, x: Any, y: Any) -> list[Any]:
    return [
        unbroadcast(real_p.bind(ct), x) if is_linear(x) else None,
        unbroadcast(neg_p.bind(imag_p.bind(ct)), y) if is_linear(y) else None,
    ]
