"""Differentiation of arithmetic, and of operations that are piecewise constant."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from dovetail_ad import jvp_rules, jvp_values
from dovetail_core import Primitive, typeof

from ...dtypes import finfo, kind_of
from ...primitives.arithmetic import (
    abs_p,
    add_p,
    cbrt_p,
    div_p,
    integer_pow_p,
    max_p,
    min_p,
    mul_p,
    mulhi_p,
    neg_p,
    pow_p,
    rem_p,
    rsqrt_p,
    sign_p,
    sqrt_p,
    square_p,
    sub_p,
)
from ...primitives.discrete import (
    and_p,
    ceil_p,
    clz_p,
    eq_p,
    eq_to_p,
    floor_p,
    ge_p,
    gt_p,
    is_finite_p,
    le_p,
    le_to_p,
    lt_p,
    lt_to_p,
    ne_p,
    not_p,
    or_p,
    population_count_p,
    reduce_precision_p,
    round_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from ...primitives.transcendental import log_p
from ...primitives.values import (
    complex_p,
    conj_p,
    convert_element_type_p,
    imag_p,
    real_p,
    select_n_p,
)
from ...scalars import PYTHON_SCALARS, scalar
from .kinds import fit, linear, nary, unary, zero

Pair = tuple[Any, Any]

# Products by what is known are written mul(tangent, known): one linear operation to transpose.


@jvp_rules.register(add_p)
def _add(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    (x, y), (dx, dy) = primals, tangents
    out = add_p.bind(x, y)
    if dy is None:
        return out, fit(dx, out)
    return out, fit(dy, out) if dx is None else add_p.bind(dx, dy)


@jvp_rules.register(sub_p)
def _sub(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    (x, y), (dx, dy) = primals, tangents
    out = sub_p.bind(x, y)
    if dy is None:
        return out, fit(dx, out)
    return out, fit(neg_p.bind(dy), out) if dx is None else sub_p.bind(dx, dy)


@jvp_rules.register(mul_p)
def _mul(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Pair:
    (x, y), (dx, dy) = primals, tangents
    out = mul_p.bind(x, y, **params)
    if dy is None:
        return out, mul_p.bind(dx, y, **params)
    if dx is None:
        return out, mul_p.bind(x, dy, **params)
    return out, add_p.bind(mul_p.bind(dx, y, **params), mul_p.bind(x, dy, **params))


@jvp_rules.register(div_p)
def _div(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    """(dx - out dy) / y: as large as a change of ``out`` by the relative change of ``y``, where the
    factor of dy alone, out / y, may overflow or vanish."""
    (x, y), (dx, dy) = primals, tangents
    out = div_p.bind(x, y)
    if dy is None:
        return out, div_p.bind(dx, y)
    change = mul_p.bind(dy, neg_p.bind(out))
    return out, div_p.bind(change if dx is None else add_p.bind(dx, change), y)


def _rem_y(t: Any, out: Any, x: Any, y: Any) -> Any:
    # x = q y + out with q an integer, so that d out = -q dy.
    return mul_p.bind(t, div_p.bind(sub_p.bind(out, x), y))


nary(rem_p, lambda t, out, x, y: t, _rem_y)
linear(neg_p)
zero(mulhi_p)


def _share(above: Any, beyond: Any, dtype: Any) -> Any:
    """1 where an operand is the result, 1/2 where both are, else 0."""
    part = select_n_p.bind(beyond, scalar(0.5, dtype), scalar(1.0, dtype))
    return select_n_p.bind(above, scalar(0.0, dtype), part)


def _max_x(t: Any, out: Any, x: Any, y: Any) -> Any:
    if kind_of(out.dtype) == "complex":
        return mul_p.bind(t, _share(eq_p.bind(x, out), ne_p.bind(y, out), out.dtype))
    return mul_p.bind(t, _share(ge_p.bind(x, y), gt_p.bind(x, y), out.dtype))


def _min_x(t: Any, out: Any, x: Any, y: Any) -> Any:
    if kind_of(out.dtype) == "complex":
        return _max_x(t, out, x, y)
    return mul_p.bind(t, _share(le_p.bind(x, y), lt_p.bind(x, y), out.dtype))


nary(max_p, _max_x, lambda t, out, x, y: _max_x(t, out, y, x))
nary(min_p, _min_x, lambda t, out, x, y: _min_x(t, out, y, x))


@jvp_rules.register(abs_p)
def _abs(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    (x,), (t,) = primals, tangents
    out = abs_p.bind(x)
    dtype = typeof(x).dtype  # type: ignore[attr-defined]
    if kind_of(dtype) != "complex":
        nonnegative = ge_p.bind(x, scalar(0.0, dtype))
        return out, mul_p.bind(
            t, select_n_p.bind(nonnegative, scalar(-1.0, dtype), scalar(1.0, dtype))
        )
    # |z|' = Re(t conj(z)) / |z|, and 0 at 0, where sign is 0.
    return out, real_p.bind(mul_p.bind(t, conj_p.bind(sign_p.bind(_of_finite_size(x, out)))))


def _of_finite_size(x: Any, size: Any) -> Any:
    """``x``, or, where its absolute value is infinite, a finite number in its direction."""
    quarter, most = scalar(0.25, size.dtype), scalar(float(finfo(size.dtype).max) / 4, size.dtype)
    least = neg_p.bind(most)
    parts = [
        max_p.bind(min_p.bind(mul_p.bind(part.bind(x), quarter), most), least)
        for part in (real_p, imag_p)
    ]
    return select_n_p.bind(is_finite_p.bind(size), complex_p.bind(*parts), x)


@jvp_rules.register(sign_p)
def _sign(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    (x,), (t,) = primals, tangents
    out = sign_p.bind(x)
    if kind_of(out.dtype) != "complex":
        return out, None
    # s = z/|z|: s' = (t - s Re(t conj(s))) / |z|, and 0 at 0.
    size = abs_p.bind(x)
    zero_, one = scalar(0.0, size.dtype), scalar(1.0, size.dtype)
    inverse = select_n_p.bind(eq_p.bind(size, zero_), div_p.bind(one, size), zero_)
    along = complex_p.bind(real_p.bind(mul_p.bind(t, conj_p.bind(out))), zero_)
    return out, mul_p.bind(sub_p.bind(t, mul_p.bind(along, out)), complex_p.bind(inverse, zero_))


def _sqrt(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, div_p.bind(scalar(0.5, out.dtype), out))


def _rsqrt(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, mul_p.bind(scalar(-0.5, out.dtype), div_p.bind(out, x)))


def _cbrt(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, div_p.bind(scalar(1 / 3, out.dtype), square_p.bind(out)))


def _square(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, mul_p.bind(scalar(2.0, out.dtype), x))


unary(sqrt_p, _sqrt)
unary(rsqrt_p, _rsqrt)
unary(cbrt_p, _cbrt)
unary(square_p, _square)


@jvp_rules.register(integer_pow_p)
def _integer_pow(primals: Sequence[Any], tangents: Sequence[Any], *, y: int) -> Pair:
    (x,), (t,) = primals, tangents
    out = integer_pow_p.bind(x, y=y)
    if y == 0:
        return out, None
    if y == 1:
        return out, t
    if y == -1:  # not 1/x², of which the square underflows before the result overflows
        return out, mul_p.bind(t, neg_p.bind(square_p.bind(out)))
    lower = x if y == 2 else integer_pow_p.bind(x, y=y - 1)
    return out, mul_p.bind(t, mul_p.bind(scalar(float(y), out.dtype), lower))


@jvp_rules.register(pow_p)
def _pow(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    (x, y), (dx, dy) = primals, tangents
    out = pow_p.bind(x, y)
    total = None if dx is None else _pow_x(dx, out, x, y)
    if dy is not None:
        # 0 where x is 0: the limit for positive y, which is where the derivative exists.
        zero_, one = scalar(0.0, out.dtype), scalar(1.0, out.dtype)
        safe = select_n_p.bind(eq_p.bind(x, zero_), x, one)
        part = mul_p.bind(dy, mul_p.bind(out, log_p.bind(safe)))
        total = part if total is None else add_p.bind(total, part)
    return out, None if total is None else fit(total, out)


def _pow_x(t: Any, out: Any, x: Any, y: Any) -> Any:
    dtype = out.dtype
    if y.__class__ in PYTHON_SCALARS or isinstance(y, np.generic):
        known = y.item() if isinstance(y, np.generic) else y
        if known == 0:
            return None
        lower = pow_p.bind(x, y.__class__(known - 1))
        return mul_p.bind(t, mul_p.bind(scalar(known, dtype), lower))
    if typeof(y).dtype != dtype:  # type: ignore[attr-defined]
        y = convert_element_type_p.bind(y, new_dtype=dtype, weak_type=False)
    zero_, one = scalar(0.0, dtype), scalar(1.0, dtype)
    # At y = 0 it is 0 / x, of slope 1 / x in y; 0 x where 1 / x**2, its slope in x, is infinite.
    size = abs_p.bind(x)
    tiny = lt_p.bind(size, scalar(2.0 * sqrt(float(finfo(dtype).tiny)), size.dtype))
    lost = and_p.bind(eq_p.bind(y, zero_), tiny)
    power = select_n_p.bind(lost, sub_p.bind(y, one), one)
    return mul_p.bind(t, mul_p.bind(y, pow_p.bind(x, power)))


for _p in (eq_p, ne_p, lt_p, le_p, gt_p, ge_p, eq_to_p, le_to_p, lt_to_p):
    zero(_p)
for _p in (not_p, and_p, or_p, xor_p, population_count_p, clz_p):
    zero(_p)
for _p in (shift_left_p, shift_right_logical_p, shift_right_arithmetic_p):
    zero(_p)
for _p in (floor_p, ceil_p, round_p, is_finite_p):
    zero(_p)

# Rounding to fewer bits is taken as linear: tangents are rounded to the same format.
linear(reduce_precision_p)


def by_decomposition(primitive: Primitive) -> None:
    """Add the rule of a primitive whose tangents are those of its decomposition.

    Without a rule they would be, too, but then so would the values: rounded otherwise than where
    nothing is differentiated.
    """
    decomposition = primitive.decomposition
    assert decomposition is not None

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        def decomposed(*xs: Any) -> Sequence[Any]:
            out = decomposition(*xs, **params)
            return out if primitive.multiple_results else [out]

        answer = primitive.bind(*primals, **params)
        result = jvp_values(decomposed, primals, tangents)[1]
        return answer, result if primitive.multiple_results else result[0]

    jvp_rules.set(primitive, rule)
