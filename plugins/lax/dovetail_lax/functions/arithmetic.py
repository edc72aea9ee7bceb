"""Public functions of arithmetic, and the accuracy that elementwise functions may be given."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from operator import index
from typing import Any

from dovetail_base import arguments
from dovetail_base.source import called

from ..dtypes import as_dtype, kind_of
from ..primitives.arithmetic import (
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
    nextafter_p,
    pow_p,
    rem_p,
    rsqrt_p,
    sign_p,
    sqrt_p,
    square_p,
    sub_p,
)
from ..primitives.elementwise import INTEGER, ShapeMismatch
from ..scalars import PYTHON_SCALARS, adapt
from .operands import Array, ArrayLike, binary, check, stretch, unary, unary_with


class AccuracyMode(Enum):
    """The backend's most accurate implementation, or its default."""

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """Bounds on the error: absolute, relative, in units of the last digit.

    Raises:
        ValueError: a bound is negative, or there is none.
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        for name in ("atol", "rtol", "ulps"):
            arguments.number(name, getattr(self, name))
        if self.atol < 0 or self.rtol < 0 or self.ulps < 0:
            raise ValueError(f"tolerances must not be negative, got {self}{called()}")
        if not (self.atol or self.rtol or self.ulps):
            raise ValueError(f"a Tolerance needs atol, rtol or ulps{called()}")


Accuracy = AccuracyMode | Tolerance | None


def accuracy_params(accuracy: Any) -> dict[str, Any]:
    """Parameters of a primitive for an accuracy that a user gave.

    Raises:
        TypeError: it is no ``AccuracyMode`` and no ``Tolerance``.
    """
    if not isinstance(accuracy, (AccuracyMode, Tolerance)):
        raise TypeError(
            f"accuracy is a lax.AccuracyMode, a lax.Tolerance or None, not {accuracy!r}"
        )
    return {"accuracy": accuracy}


def add(x: ArrayLike, y: ArrayLike) -> Array:
    """The sum ``x + y``, elementwise. Operands are of one numeric type (a Python scalar takes the
    other's) and of equal shapes, or scalar."""
    return binary(add_p, x, y)


def sub(x: ArrayLike, y: ArrayLike) -> Array:
    """The difference ``x - y``, elementwise."""
    return binary(sub_p, x, y)


def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: Any = None) -> Array:
    """The product, elementwise; of type ``out_dtype``, to which operands are converted first."""
    if out_dtype is not None:
        return binary(mul_p, x, y, {"out_dtype": as_dtype(out_dtype)})
    return binary(mul_p, x, y)


def div(x: ArrayLike, y: ArrayLike) -> Array:
    """The quotient, elementwise; that of integers is rounded towards zero."""
    return binary(div_p, x, y)


def rem(x: ArrayLike, y: ArrayLike) -> Array:
    """The remainder of ``div``, elementwise; it has the sign of ``x``."""
    return binary(rem_p, x, y)


def max(x: ArrayLike, y: ArrayLike) -> Array:
    """The greater, elementwise; NaN if either is. Complex numbers compare by real part first."""
    return binary(max_p, x, y)


def min(x: ArrayLike, y: ArrayLike) -> Array:
    """The lesser, elementwise; NaN if either is. Complex numbers compare by real part first."""
    return binary(min_p, x, y)


def neg(x: ArrayLike) -> Array:
    """``-x``, elementwise; unsigned integers wrap around."""
    return unary(neg_p, x)


def sign(x: ArrayLike) -> Array:
    """-1, 0 or 1; of complex numbers ``x / abs(x)``, and 0 at 0."""
    return unary(sign_p, x)


def abs(x: ArrayLike) -> Array:
    """The absolute value, elementwise; real for complex operands."""
    return unary(abs_p, x)


def square(x: ArrayLike) -> Array:
    """``x * x``, elementwise."""
    return unary(square_p, x)


def sqrt(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """The square root, elementwise; NaN for negative reals."""
    if accuracy is not None:
        return unary_with(sqrt_p, x, accuracy_params(accuracy))
    return unary(sqrt_p, x)


def rsqrt(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """``1 / sqrt(x)``, elementwise."""
    if accuracy is not None:
        return unary_with(rsqrt_p, x, accuracy_params(accuracy))
    return unary(rsqrt_p, x)


def cbrt(x: ArrayLike, *, accuracy: Accuracy = None) -> Array:
    """The real cube root, elementwise."""
    if accuracy is not None:
        return unary_with(cbrt_p, x, accuracy_params(accuracy))
    return unary(cbrt_p, x)


def reciprocal(x: ArrayLike) -> Array:
    """``1 / x``, elementwise; floating-point and complex."""
    return unary_with(integer_pow_p, x, {"y": -1})


def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """``x ** y``, elementwise; ``y`` is of the type of ``x`` or of any integer type."""
    if x.__class__ in PYTHON_SCALARS and y.__class__ not in PYTHON_SCALARS:
        aval = check("pow", y)
        x = adapt(x, aval.dtype) if kind_of(aval.dtype) not in INTEGER else x
    elif y.__class__ is not int and y.__class__ in PYTHON_SCALARS:
        y = adapt(y, check("pow", x).dtype)
    else:
        check("pow", x)
    try:
        return pow_p.bind(x, y)
    except ShapeMismatch as e:
        return pow_p.bind(*stretch((x, y), e))


def integer_pow(x: ArrayLike, y: int) -> Array:
    """``x ** y`` for a fixed integer ``y``, elementwise.

    Raises:
        TypeError: ``y`` is not a Python integer; or it is negative, and ``x`` integer.
    """
    try:
        power = index(y)
    except TypeError:
        raise TypeError(
            f"lax.integer_pow takes a Python integer as exponent, got {y!r}. Use lax.pow."
        ) from None
    return unary_with(integer_pow_p, x, {"y": power})


def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The next number after ``x1`` in the direction of ``x2``, elementwise."""
    return binary(nextafter_p, x1, x2)


def mulhi(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The upper half of the double-width product of integers, elementwise."""
    return binary(mulhi_p, x, y)
