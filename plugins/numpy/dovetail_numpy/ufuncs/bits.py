"""Shifts, and functions of whole numbers: greatest common divisors and least common multiples."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_base.wrapping import alias
from dovetail_core import ShapedArray, here, typeof

from ..creation.arrays import as_array
from ..fusion import fused, of_two_arrays, one_call
from ..manipulation.shapes import moveaxis
from ..operands import Array, ArrayLike, axis_index, integer
from ..operations import number, reshape as to_shape, select, strong, truth
from ..promotion import INT32, broadcast, convert, promote_all
from .plans import INTEGERS, Binary, accept, binary_function, by_kind


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


def _prepared(name: str, a: ArrayLike, axis: int | None, bitorder: str) -> tuple[Any, int]:
    if bitorder not in ("little", "big"):
        raise ValueError(f"{name}: bitorder must be 'little' or 'big', got {bitorder!r}{here()}")
    x = as_array(name, a)
    if axis is None:
        return to_shape(x, (x.size,)), 0
    return x, axis_index(name, axis, x.ndim)


def _weights(bitorder: str) -> Any:
    order = range(8) if bitorder == "little" else range(7, -1, -1)
    return np.asarray(list(order), np.uint8)


@reword_errors
@one_call("axis", "bitorder")
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements each (zero or not) as the bits of one byte; the rest is filled with zeros.

    Raises:
        TypeError: ``a`` is neither boolean nor of integers.
    """
    x, axis = _prepared("packbits", a, axis, bitorder)
    if x.dtype.kind not in "biu":
        raise TypeError(f"packbits takes booleans or integers, got dtype {x.dtype}{here()}")
    out = _pack(moveaxis(x, axis, -1), bitorder=bitorder)
    return moveaxis(out, -1, axis)


@fused(static=("bitorder",))
def _pack(x: Any, bitorder: str) -> Any:
    bits = lax.convert_element_type(truth(x), np.uint8)
    n = bits.shape[-1]
    last = bits.ndim - 1
    bits = lax.pad(
        bits, np.uint8(0), [(0, -n % 8 if i == last else 0, 0) for i in range(bits.ndim)]
    )
    octets = lax.reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    shifts = lax.broadcast_in_dim(_weights(bitorder), octets.shape, (octets.ndim - 1,))
    return lax.reduce_or(lax.shift_left(octets, shifts), (octets.ndim - 1,))


@reword_errors
@one_call("axis", "count", "bitorder")
def unpackbits(
    a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of bytes as elements 0 and 1; ``count`` cuts off or fills up.

    Raises:
        TypeError: ``a`` is not of dtype uint8.
    """
    x, axis = _prepared("unpackbits", a, axis, bitorder)
    if x.dtype != np.uint8:
        raise TypeError(f"unpackbits takes an array of dtype uint8, got {x.dtype}{here()}")
    out = _unpack(moveaxis(x, axis, -1), bitorder=bitorder)
    if count is not None:
        wanted, n, last = integer("unpackbits", "count", count), out.shape[-1], out.ndim - 1
        stop = wanted if wanted >= 0 else n + wanted
        out = lax.slice_in_dim(out, 0, min(stop, n), axis=last)
        grown = [(0, max(stop - n, 0) if i == last else 0, 0) for i in range(out.ndim)]
        out = lax.pad(out, np.uint8(0), grown)
    return moveaxis(out, -1, axis)


@fused(static=("bitorder",))
def _unpack(x: Any, bitorder: str) -> Any:
    full = (*x.shape, 8)
    octets = lax.broadcast_in_dim(x, full, range(x.ndim))
    order = lax.iota(np.uint8, 8)
    order = order if bitorder == "little" else lax.rev(order, (0,))
    each = lax.broadcast_in_dim(lax.shift_left(np.uint8(1), order), full, (x.ndim,))
    # Compared, not shifted: the processor has vectors of bytes, but no shifts of them.
    bits = convert(lax.ne(lax.bitwise_and(octets, each), number(x, 0)), np.dtype(np.uint8))
    return lax.reshape(bits, (*x.shape[:-1], (x.shape[-1] if x.shape else 1) * 8))
