"""Transposition of arithmetic, sums, choices, conversions and copies, and makers of such rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from dovetail_ad import is_linear, transpose_rules
from dovetail_core import MissingRule, Primitive, here, typeof

from ...dtypes import kind_of
from ...primitives.arithmetic import add_p, div_p, mul_p, neg_p, sub_p
from ...primitives.discrete import reduce_precision_p
from ...primitives.reductions import cumsum_p, reduce_sum_p
from ...primitives.shape import broadcast_in_dim_p
from ...primitives.taken import Positions, taken_p, zero_other_cases
from ...primitives.values import (
    complex_p,
    conj_p,
    convert_element_type_p,
    copy_p,
    imag_p,
    optimization_barrier_p,
    real_p,
    select_n_p,
)
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


def _convert(ct: Any, x: Any, **params: Any) -> Any:
    """The cotangent in the operand's type.

    Under the pairing ``Re(ct * t)`` a conversion to complex transposes to taking the real part, and
    one from complex to a conversion to complex.
    """
    want = x.aval
    if kind_of(ct.dtype) == "complex" != kind_of(want.dtype):
        ct = real_p.bind(ct)
    if ct.dtype == want.dtype:
        return ct
    return convert_element_type_p.bind(ct, new_dtype=want.dtype, weak_type=False)


unary(convert_element_type_p, _convert)


@transpose_rules.register(select_n_p)
def _select_n(ct: Any, which: Any, *cases: Any) -> list[Any]:
    if is_linear(which):
        refuse_linear("select_n", 0)
    zero = scalar(0.0, ct.dtype)
    out: list[Any] = [None]
    for i, case in enumerate(cases):
        if is_linear(case):
            chosen = select_n_p.bind(which, *[ct if j == i else zero for j in range(len(cases))])
            out.append(unbroadcast(chosen, case))
        else:
            out.append(None)
    return out


unary(copy_p, lambda ct, x: copy_p.bind(ct))


@transpose_rules.register(optimization_barrier_p)
def _optimization_barrier(cts: Sequence[Any], *operands: Any) -> list[Any]:
    moved = iter(optimization_barrier_p.bind(*[ct for ct in cts if ct is not None]))
    return [None if ct is None else next(moved) for ct in cts]


@transpose_rules.register(taken_p)
def _taken(
    cts: Sequence[Any], index: Any, *operands: Any, case: int, positions: Positions, zeroed: bool
) -> list[Any]:
    return [
        None,
        *(
            zero_other_cases(index, case, at, ct) if ct is not None and is_linear(x) else None
            for ct, x, at in zip(cts, operands, positions)
        ),
    ]


@transpose_rules.register(reduce_sum_p)
def _reduce_sum(ct: Any, x: Any, *, axes: tuple[int, ...]) -> list[Any]:
    shape: tuple[int, ...] = x.aval.shape
    kept = tuple([i for i in range(len(shape)) if i not in axes])
    return [broadcast_in_dim_p.bind(ct, shape=shape, broadcast_dimensions=kept) if axes else ct]


@transpose_rules.register(cumsum_p)
def _cumsum(ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
    return [cumsum_p.bind(ct, axis=axis, reverse=not reverse)]
