"""Arithmetic of two operands: sums, products, quotients, remainders, powers, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.wrapping import alias
from dovetail_core import ShapedArray, here, is_inexact, typeof
from dovetail_xla.arrays import ArrayImpl

from ..creation.arrays import as_array
from ..fusion import fused, of_two_arrays, one_call
from ..operands import ArrayLike
from ..operations import dtype_of, number, select, strong
from ..promotion import INT32, broadcast, common_type, convert, is_strict, promote
from .plans import (
    INEXACT,
    INTEGERS,
    NUMBERS,
    Binary,
    Op,
    always,
    binary_function,
    by_kind,
    for_kinds,
)


def _with_bool_as_int(op: Op) -> Op:
    def apply(x: Any, y: Any) -> Any:
        return op(convert(x, INT32), convert(y, INT32))

    return fused()(apply)


def _floor_divide_signed(x: Any, y: Any) -> Any:
    quotient = lax.div(x, y)
    # Division truncates; one less where the signs differ and there is a remainder.
    off = lax.bitwise_and(lax.ne(lax.sign(x), lax.sign(y)), lax.ne(lax.rem(x, y), number(x, 0)))
    return select(off, lax.sub(quotient, number(x, 1)), quotient)


def _floor_divide_float(x: Any, y: Any) -> Any:
    # The exact multiple (x - rem) / y, rounded: floor(x / y) is wrong where x / y rounds up. rem is
    # the truncated remainder; the one with the sign of y is infinite where y is.
    rem, zero = lax.rem(x, y), number(x, 0)
    exact = lax.div(lax.sub(x, rem), y)
    off = lax.bitwise_and(lax.ne(rem, zero), lax.ne(lax.lt(rem, zero), lax.lt(y, zero)))
    exact = select(off, lax.sub(exact, number(x, 1)), exact)
    rounded = lax.round(exact, lax.RoundingMethod.TO_NEAREST_EVEN)
    return select(lax.eq(y, number(y, 0)), lax.floor(lax.div(x, y)), rounded)


def _rem(x: Any, y: Any) -> Any:
    """The remainder with the sign of ``x``; of integers by zero it is 0."""
    if dtype_of(y).kind not in "iu":
        return lax.rem(x, y)
    by_zero = lax.eq(y, number(y, 0))
    return select(by_zero, number(x, 0), lax.rem(x, select(by_zero, number(y, 1), y)))


def _remainder(x: Any, y: Any) -> Any:
    """The remainder with the sign of ``y``."""
    rem = _rem(x, y)
    zero = number(x, 0)
    differs = lax.ne(lax.lt(rem, zero), lax.lt(y, zero))
    return select(lax.bitwise_and(differs, lax.ne(rem, zero)), lax.add(rem, y), rem)


_signed_div, _float_div = (
    fused(shared=True)(_floor_divide_signed),
    fused(shared=True)(_floor_divide_float),
)
_mod = fused(shared=True)(_remainder)

ADD = Binary("add", by_kind(bool=lax.or_p, **for_kinds(NUMBERS, lax.add_p)))
SUBTRACT = Binary("subtract", always(lax.sub_p, NUMBERS))
MULTIPLY = Binary("multiply", by_kind(bool=lax.and_p, **for_kinds(NUMBERS, lax.mul_p)))
DIVIDE = Binary("divide", always(lax.div_p, INEXACT), inexact=True)
FLOOR_DIVIDE = Binary("floor_divide", by_kind(
    bool=_with_bool_as_int(_floor_divide_signed), signed=_signed_div, unsigned=lax.div_p,
    floating=_float_div))  # fmt: skip
REMAINDER = Binary("remainder", by_kind(
    bool=_with_bool_as_int(_remainder), signed=_mod, unsigned=fused()(_rem),
    floating=_mod))  # fmt: skip
MAXIMUM = Binary("maximum", always(lax.max_p))
MINIMUM = Binary("minimum", always(lax.min_p))
_FMOD = Binary("fmod", by_kind(bool=_with_bool_as_int(_rem), floating=lax.rem_p,
                               **for_kinds(INTEGERS, fused()(_rem))))  # fmt: skip

divide = binary_function(DIVIDE, "True division ``x1 / x2``; integers are divided as floats.")
true_divide = of_two_arrays(alias(divide, "true_divide"))
floor_divide = binary_function(
    FLOOR_DIVIDE, "``floor(x1 / x2)`` without rounding errors; not for complex numbers."
)
remainder = binary_function(REMAINDER, "``x1 - x2 * floor(x1 / x2)``: has the sign of ``x2``.")
mod = of_two_arrays(alias(remainder, "mod"))
fmod = binary_function(_FMOD, "The remainder of truncating division: has the sign of ``x1``.")


@one_call()
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Any, Any]:
    """``(floor_divide(x1, x2), remainder(x1, x2))``."""
    return FLOOR_DIVIDE(x1, x2), REMAINDER(x1, x2)


def _raise_integers(x: Any, y: Any) -> Any:
    """Integers to integer powers by repeated squaring, one step per bit of the exponent."""
    one, zero = lax.full_like(y, 1), lax.full_like(y, 0)
    exponent: Any = typeof(y)
    x = x if exponent.weak_type else strong(x)
    base, acc = x, lax.full_like(x, 1)
    for _ in range(dtype_of(y).itemsize * 8):
        acc = select(lax.ne(lax.bitwise_and(y, one), zero), lax.mul(acc, base), acc)
        base = lax.mul(base, base)
        y = lax.shift_right_logical(y, one)
    return acc


@fused()
def _power_integers(x: Any, y: Any) -> Any:
    return _raise_integers(*_full_shapes(as_array("power", x), as_array("power", y)))


def _full_shapes(x: Any, y: Any) -> tuple[Any, Any]:
    shape = y.shape if x.shape == () else x.shape
    return broadcast(x, shape), broadcast(y, shape)


class _Power(Binary):
    """The engine of powers.

    Booleans are raised as 32-bit integers. Powers of weakly typed floats are strongly typed if the
    exponents are an array of strongly typed integers.
    """

    __slots__ = ()

    def result_type(self, avals: list[Any]) -> tuple[Any, bool]:
        base, exponent = avals
        if base.dtype.kind == "b":
            base = ShapedArray(base.shape, INT32)
        counts = exponent.dtype.kind in "iu" and exponent.shape == ()
        if counts and is_strict():
            return base.dtype, base.weak_type  # a scalar exponent is a number of factors
        dtype, weak = common_type([base, exponent], self.inexact)
        if dtype.kind in "iu":
            return dtype, weak and exponent.dtype.kind != "b"
        integral = exponent.dtype.kind in "iu" and not exponent.weak_type and is_inexact(base.dtype)
        return dtype, weak and not (integral and exponent.shape)


POWER = _Power("power", by_kind(**for_kinds(INTEGERS, _power_integers),
                                **for_kinds(INEXACT, lax.pow_p)))  # fmt: skip


def power(x1: ArrayLike, x2: ArrayLike, /) -> Any:
    """``x1`` to the power of ``x2``.

    For a concrete integer ``x2`` it is computed by multiplications and has the type of ``x1``.

    Raises:
        TypeError: an integer is raised to a concrete negative integer.
    """
    exponent = known_exponent(x1, x2)
    return POWER(x1, x2) if exponent is None else integer_power(x1, exponent)


_INTEGERS = (int, np.integer)


def known_exponent(x: Any, y: Any) -> int | None:
    """``y`` as a Python integer if it is a single concrete integer, else None.

    An array on a device is read only if the type of the result depends on its value. For floats it
    does not: they are computed without waiting for it, and compiled once for all exponents.
    """
    if isinstance(y, _INTEGERS):
        return int(y)
    if not isinstance(y, (np.ndarray, ArrayImpl)):
        return None
    array: Any = y
    if array.shape != () or array.dtype.kind not in "iu":
        return None
    if isinstance(array, np.ndarray):
        return int(array)
    integral = isinstance(x, _INTEGERS) or getattr(getattr(x, "dtype", None), "kind", "") in "biu"
    return int(array) if integral else None


def integer_power(x: ArrayLike, n: int) -> Any:
    """``x`` to the power of a Python integer, in the element type of ``x``.

    Raises:
        TypeError: ``x`` holds integers and ``n`` is negative.
    """
    aval: Any = getattr(x, "aval", None)
    if aval is None:
        (x,) = promote("power", x)
        aval = typeof(x)
    if aval.__class__ is ShapedArray and aval.dtype.kind == "b":
        x, aval = convert(x, INT32), ShapedArray(aval.shape, INT32)
    if n < 0 and aval.dtype.kind in "iu":
        raise TypeError(
            f"power: integers cannot be raised to negative powers, got {aval.str_short()} and "
            f"{n}{here()}. Convert the base to a floating-point type, or write the "
            f"exponent as {n}.0."
        )
    return lax.integer_pow_p.bind(x, y=n)


_FLOAT_POWER = Binary("float_power", always(lax.pow_p, INEXACT), inexact=True)
float_power = binary_function(
    _FLOAT_POWER, "``x1`` to the power of ``x2`` in floating point, also for integers."
)
pow = alias(power, "pow")
