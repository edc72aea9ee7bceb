"""Shifts, and functions of whole numbers: greatest common divisors and least common multiples."""

from __future__ import annotations

from typing import Any, cast

import dovetail_lax as lax
from dovetail_base.wrapping import alias
from dovetail_core import ShapedArray, typeof

from ..creation.arrays import as_array
from ..fusion import fused, of_two_arrays, one_call
from ..operands import ArrayLike
from ..operations import number, select, strong
from ..promotion import INT32, broadcast, convert, promote_all
from .choosers import INTEGERS, accept, by_kind
from .plans import Binary, binary_function


def _on_ints(op: Any) -> Any:
    return fused()(lambda x, y: op(convert(x, INT32), convert(y, INT32)))


LEFT_SHIFT = Binary("left_shift", by_kind(
    bool=_on_ints(lax.shift_left), signed=lax.shift_left_p, unsigned=lax.shift_left_p))  # fmt: skip
RIGHT_SHIFT = Binary("right_shift", by_kind(
    bool=_on_ints(lax.shift_right_arithmetic), signed=lax.shift_right_arithmetic_p,
    unsigned=lax.shift_right_logical_p))  # fmt: skip

left_shift = binary_function(LEFT_SHIFT, "``x1`` shifted left by ``x2`` bits.")
bitwise_left_shift = of_two_arrays(alias(left_shift, "bitwise_left_shift"))
right_shift = binary_function(
    RIGHT_SHIFT, "``x1`` shifted right by ``x2`` bits; the sign bit fills signed integers."
)
bitwise_right_shift = of_two_arrays(alias(right_shift, "bitwise_right_shift"))


@fused()
def _gcd(x: Any, y: Any) -> Any:
    def more(state: tuple[Any, Any]) -> Any:
        return lax.reduce_or(lax.ne(state[1], number(y, 0)), tuple(range(len(y.shape))))

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        a, b = state
        done = lax.eq(b, number(b, 0))
        divisor = select(done, number(b, 1), b)
        return select(done, a, b), select(done, number(b, 0), lax.rem(a, divisor))

    return lax.while_loop(more, step, (x, y))[0]


def _magnitudes(name: str, x1: ArrayLike, x2: ArrayLike) -> tuple[Any, Any]:
    x, y = (as_array(name, v) for v in promote_all(name, x1, x2))
    accept(name, x.dtype, INTEGERS)
    shape = x.shape or y.shape
    x, y = broadcast(x, shape), broadcast(y, shape)
    if not all(cast(ShapedArray, typeof(v)).weak_type for v in (x1, x2)):
        x = strong(x)  # so that results are
    return (lax.abs(x), lax.abs(y)) if x.dtype.kind == "i" else (x, y)


@one_call()
def gcd(x1: ArrayLike, x2: ArrayLike) -> Any:
    """The greatest common divisor of integers, element by element.

    Raises:
        TypeError: an argument is not of integers.
    """
    return _gcd(*_magnitudes("gcd", x1, x2))


@one_call()
def lcm(x1: ArrayLike, x2: ArrayLike) -> Any:
    """The least common multiple of integers, element by element.

    Raises:
        TypeError: an argument is not of integers.
    """
    x, y = _magnitudes("lcm", x1, x2)
    divisor = _gcd(x, y)
    zero = lax.eq(divisor, number(divisor, 0))
    quotient = lax.div(y, select(zero, number(divisor, 1), divisor))
    return select(zero, number(x, 0), lax.mul(x, quotient))
