"""Comparisons, logical functions and tests of elements, all with boolean results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import ArrayLike, no_out
from ..operations import number, strong, truth
from .plans import (
    ALL,
    ANYTHING,
    BITS,
    REALS,
    Binary,
    Unary,
    WeakIfAll,
    always,
    binary_function,
    by_kind,
    for_kinds,
    unary_function,
)

F = Callable[[Any, Any], Any]


def _lexicographic(strict: Any, plain: Any) -> Any:
    """Complex numbers in order of their real parts, then of their imaginary parts."""

    def compare(x: Any, y: Any) -> Any:
        xr, xi, yr, yi = lax.real(x), lax.imag(x), lax.real(y), lax.imag(y)
        tie = lax.bitwise_and(lax.eq(xr, yr), plain(xi, yi))
        return lax.bitwise_or(strict(xr, yr), tie)

    return fused()(compare)


def _ordering(name: str, op: Any, strict: Any, plain: Any) -> Binary:
    complex_op = _lexicographic(strict, plain)
    return Binary(name, by_kind(complex=complex_op, **for_kinds(REALS, op)))


EQUAL = Binary("equal", always(lax.eq_p, ANYTHING))
NOT_EQUAL = Binary("not_equal", always(lax.ne_p, ANYTHING))
LESS = _ordering("less", lax.lt_p, lax.lt, lax.lt)
LESS_EQUAL = _ordering("less_equal", lax.le_p, lax.lt, lax.le)
GREATER = _ordering("greater", lax.gt_p, lax.gt, lax.gt)
GREATER_EQUAL = _ordering("greater_equal", lax.ge_p, lax.gt, lax.ge)

equal: F = binary_function(EQUAL, "True where elements are equal; NaN equals nothing.")
not_equal: F = binary_function(NOT_EQUAL, "True where elements differ.")
less: F = binary_function(LESS, "``x1 < x2``; complex numbers compare by real part first.")
less_equal: F = binary_function(LESS_EQUAL, "``x1 <= x2``; complex numbers by real part first.")
greater: F = binary_function(GREATER, "``x1 > x2``; complex numbers compare by real part first.")
greater_equal: F = binary_function(
    GREATER_EQUAL, "``x1 >= x2``; complex numbers compare by real part first."
)

AND = Binary("bitwise_and", always(lax.and_p, BITS))
OR = Binary("bitwise_or", always(lax.or_p, BITS))
XOR = Binary("bitwise_xor", always(lax.xor_p, BITS))


class _Logical(WeakIfAll):
    """The engine of logical functions: results are weak if all operands are weak numbers."""

    __slots__ = ()

    def result_type(self, avals: list[Any]) -> tuple[Any, bool]:
        dtype, weak = super().result_type(avals)
        return dtype, weak and all(a.dtype.kind != "b" for a in avals)


def _logical(name: str, op: Any) -> Binary:
    def apply(x: Any, y: Any) -> Any:
        return op.bind(truth(as_array(name, x)), truth(as_array(name, y)))

    others = for_kinds(ALL[1:], fused()(apply))
    return _Logical(name, by_kind(bool=op, **others))


LOGICAL_AND = _logical("logical_and", lax.and_p)
LOGICAL_OR = _logical("logical_or", lax.or_p)
LOGICAL_XOR = _logical("logical_xor", lax.xor_p)
_LOGICAL_NOT = Unary("logical_not", by_kind(
    bool=lax.not_p, **for_kinds(ALL[1:], lambda x: lax.eq_p.bind(x, number(x, 0)))))  # fmt: skip
logical_not = unary_function(_LOGICAL_NOT, "True where an element is zero or False.")


def _all_of(value: bool) -> Any:
    return fused()(lambda x: lax.full_like(x, value, dtype=np.bool_))


def _isinf_real(x: Any) -> Any:
    return strong(lax.eq_p.bind(lax.abs_p.bind(x), number(x, float("inf"))))


def _of_parts(test: Any, combine: Any) -> Any:
    return fused()(lambda x: combine(test(lax.real(x)), test(lax.imag(x))))


_EXACT = (*REALS[:3], "extended")  # neither infinities nor NaN

isnan = unary_function(
    Unary("isnan", by_kind(**for_kinds(("bool", "extended"), _all_of(False)),
                           **for_kinds(ALL[1:], lambda x: lax.ne_p.bind(x, x)))),
    "True where an element is not a number.",
)  # fmt: skip
isfinite = unary_function(
    Unary("isfinite", by_kind(**for_kinds(_EXACT, _all_of(True)), floating=lax.is_finite_p,
                              complex=_of_parts(lax.is_finite, lax.bitwise_and))),
    "True where an element is neither infinite nor not a number.",
)  # fmt: skip
isinf = unary_function(
    Unary("isinf", by_kind(**for_kinds(_EXACT, _all_of(False)), floating=fused()(_isinf_real),
                           complex=_of_parts(_isinf_real, lax.bitwise_or))),
    "True where an element is positive or negative infinity.",
)  # fmt: skip


def _is_infinity(name: str, value: float) -> Unary:
    exact = for_kinds(REALS[:3], _all_of(False))
    equal_to = fused()(lambda x: strong(lax.eq_p.bind(x, number(x, value))))
    return Unary(name, by_kind(**exact, floating=equal_to))


_POSINF = _is_infinity("isposinf", float("inf"))
_NEGINF = _is_infinity("isneginf", float("-inf"))


def isposinf(x: ArrayLike, /, out: None = None) -> Any:
    """True where an element is positive infinity; not for complex numbers."""
    no_out("isposinf", out)
    return _POSINF(x)


def isneginf(x: ArrayLike, /, out: None = None) -> Any:
    """True where an element is negative infinity; not for complex numbers."""
    no_out("isneginf", out)
    return _NEGINF(x)


@one_call()
def iscomplex(x: ArrayLike) -> Any:
    """True where an element has an imaginary part that is not zero."""
    x = as_array("iscomplex", x)
    if x.dtype.kind != "c":
        return _part_is(x, lax.ne_p)
    return truth(lax.imag(x))


@one_call()
def isreal(x: ArrayLike) -> Any:
    """True where an element has an imaginary part of zero."""
    x = as_array("isreal", x)
    return _part_is(x, lax.eq_p) if x.dtype.kind != "c" else lax.not_p.bind(truth(lax.imag(x)))


def _part_is(x: Any, compare: Any) -> Any:
    """A comparison of the imaginary parts of reals, which are zero, with zero."""
    zeros = lax.full_like(x, 0)
    return compare.bind(zeros, zeros)
