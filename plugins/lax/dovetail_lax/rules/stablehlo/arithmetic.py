"""Lowering of arithmetic."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import ShapedArray

from ...dtypes import kind_of
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
    nextafter_p,
    pow_p,
    rem_p,
    rsqrt_p,
    sign_p,
    sqrt_p,
    square_p,
    sub_p,
)
from ...primitives.values import real_part
from .kinds import accurate, compare, elementwise, select

elementwise(add_p, "stablehlo.add")
elementwise(sub_p, "stablehlo.subtract")
elementwise(div_p, "stablehlo.divide")
elementwise(rem_p, "stablehlo.remainder")
elementwise(neg_p, "stablehlo.negate")
elementwise(abs_p, "stablehlo.abs")
elementwise(nextafter_p, "chlo.next_after")
elementwise(mulhi_p, "chlo.mulhi")
accurate(sqrt_p, "stablehlo.sqrt")
accurate(rsqrt_p, "stablehlo.rsqrt")
accurate(cbrt_p, "stablehlo.cbrt")


def broadcast(b: Any, operands: tuple[Any, ...]) -> list[Any]:
    """Operands in the shape of the result."""
    return [b.broadcast_scalar(x, x.aval.update(shape=b.out.shape)) for x in operands]


@stablehlo_rules.register(mul_p)
def _mul(b: Any, x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    if out_dtype is not None:
        x, y = b.convert(x, out_dtype), b.convert(y, out_dtype)
    return b.op("stablehlo.multiply", broadcast(b, (x, y)), b.out)


@stablehlo_rules.register(square_p)
def _square(b: Any, x: Any) -> Any:
    return b.op("stablehlo.multiply", [x, x], b.out)


@stablehlo_rules.register(sign_p)
def _sign(b: Any, x: Any) -> Any:
    if kind_of(x.aval.dtype) != "unsigned":
        return b.op("stablehlo.sign", [x], b.out)
    zero, one = b.constant(0, x.aval), b.constant(1, x.aval)
    return select(b, compare(b, "EQ", x, zero), zero, one)


@stablehlo_rules.register(pow_p)
def _pow(b: Any, x: Any, y: Any) -> Any:
    return b.op("stablehlo.power", broadcast(b, (x, b.convert(y, x.aval.dtype))), b.out)


@stablehlo_rules.register(integer_pow_p)
def _integer_pow(b: Any, x: Any, *, y: int) -> Any:
    power, square, n = None, x, abs(y)
    while n:
        if n & 1:
            power = square if power is None else b.op("stablehlo.multiply", [power, square], b.out)
        n >>= 1
        if n:
            square = b.op("stablehlo.multiply", [square, square], b.out)
    if power is not None and y > 0:
        return power
    one = b.constant(1, x.aval)
    return one if power is None else b.op("stablehlo.divide", [one, power], b.out)


def _extremum(op: str, direction: str) -> Any:
    def rule(b: Any, x: Any, y: Any) -> Any:
        x, y = broadcast(b, (x, y))
        if kind_of(x.aval.dtype) != "complex":
            return b.op(op, [x, y], b.out)
        return select(b, _lexicographic(b, direction, x, y), x, y)

    return rule


def _lexicographic(b: Any, direction: str, x: Any, y: Any) -> Any:
    """Whether ``x`` comes before ``y``: by real parts, then by imaginary ones."""
    part = ShapedArray(x.aval.shape, real_part(x.aval.dtype))
    rx, ry = (b.op("stablehlo.real", [z], part) for z in (x, y))
    ix, iy = (b.op("stablehlo.imag", [z], part) for z in (x, y))
    by_real = compare(b, direction, rx, ry)
    return select(b, compare(b, "EQ", rx, ry), compare(b, direction, ix, iy), by_real)


stablehlo_rules.set(max_p, _extremum("stablehlo.maximum", "GT"))
stablehlo_rules.set(min_p, _extremum("stablehlo.minimum", "LT"))
