"""Lowering of products and quotients, kept apart where XLA would join them out of range.

XLA's simplifier writes ``(a / b) / c`` as ``a / (b c)``, ``a / (b / c)`` as ``(a c) / b``, and for
constants ``c`` and ``d`` ``(a c) d`` as ``a (c d)`` and ``(a c) (b d)`` as ``(a b) (c d)``. What it
makes may overflow or vanish where no step of the program does. It joins no operation with the
negative of another, so one of the two is negated, and then the result: that is exact.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dovetail_backends import Val, stablehlo_rules
from dovetail_backends.pjrt import Constant

from ...dtypes import finfo, kind_of
from ...primitives.arithmetic import div_p, integer_pow_p, mul_p, square_p

Range = tuple[float, float]


class Product(Val):
    """A quotient, or a product with a constant.

    Attributes:
        factor: between which absolute values the elements are of the constant that XLA makes of
            those in it, or None where there is none.
        quotient: ``"value"`` or ``"constant"`` where its last operation divides by one, or ``""``.
    """

    __slots__ = ("factor", "quotient")

    def __init__(self, value: Val, factor: Range | None, quotient: str = "") -> None:
        super().__init__(value.name, value.aval, value.type)
        self.factor = factor
        self.quotient = quotient

    def moved(self, made: Val) -> Val:
        return Product(made, self.factor, self.quotient)


def _factor(x: Val) -> Range | None:
    """The range of the constants in ``x``, if it is one or a product with some."""
    if isinstance(x, Product):
        return x.factor
    if not isinstance(x, Constant) or kind_of(x.aval.dtype) != "floating":
        return None
    return (0.0, inf) if x.array is None else _range(x.array)


def _range(array: np.ndarray[Any, Any]) -> Range:
    """The least and the largest absolute value in an array but for 0, infinity and NaN, which no
    factor changes."""
    sizes = np.abs(array if array.dtype.itemsize > 2 else array.astype(np.float32))
    counts = np.isfinite(sizes) & (sizes > 0)
    if not counts.any():
        return 1.0, 1.0
    return (
        float(np.min(sizes, where=counts, initial=inf)),
        float(np.max(sizes, where=counts, initial=0)),
    )


def _leaves_range(x: Val, factor: Range) -> bool:
    """True if constants of the type of ``x`` are infinite, 0 or subnormal."""
    info = finfo(x.aval.dtype)
    return factor[0] < float(info.tiny) or factor[1] > float(info.max)


def _negated(b: Any, x: Val) -> Val:
    return b.op("stablehlo.negate", [x], x.aval)


def broadcast(b: Any, operands: tuple[Val, ...]) -> list[Val]:
    """Operands in the shape of the result."""
    return [b.broadcast_scalar(x, x.aval.update(shape=b.out.shape)) for x in operands]


def product(b: Any, x: Val, y: Val) -> Val:
    """``x y``; a scalar is broadcast to the shape of the result."""
    operands = broadcast(b, (x, y))
    if x.__class__ is Val and y.__class__ is Val:
        return b.op("stablehlo.multiply", operands, b.out)
    f, g = _factor(x), _factor(y)
    joined = None
    if f is not None and g is not None:
        joined = f[0] * g[0], f[1] * g[1]
        if _leaves_range(x, joined):
            at = x.__class__ is Constant  # of which the negative is a constant, too
            operands[at] = _negated(b, operands[at])
            return _negated(b, b.op("stablehlo.multiply", operands, b.out))
    elif Constant in (x.__class__, y.__class__):
        joined = f or g
    made = b.op("stablehlo.multiply", operands, b.out)
    return made if joined is None or made.__class__ is Constant else Product(made, joined)


def quotient(b: Any, x: Val, y: Val) -> Val:
    """``x / y``; a scalar is broadcast to the shape of the result."""
    operands = broadcast(b, (x, y))
    if kind_of(b.out.dtype) not in ("floating", "complex"):
        return b.op("stablehlo.divide", operands, b.out)
    f, g = _factor(x), _factor(y) if y.__class__ is Constant else None
    negated = [isinstance(v, Product) and v.quotient != "" for v in (x, y)]
    joined = None
    if g is not None:
        low, high = (1.0, 1.0) if f is None else f
        joined = low / g[1], high / g[0] if g[0] else inf
        lost = f is not None and _leaves_range(x, joined)
        negated[0] = lost or (isinstance(x, Product) and x.quotient == "value")
    operands = [_negated(b, v) if a else v for v, a in zip(operands, negated)]
    made = b.op("stablehlo.divide", operands, b.out)
    if negated[0] != negated[1]:
        return _negated(b, made)
    if made.__class__ is Constant:
        return made
    return Product(made, joined, "value" if g is None else "constant")


@stablehlo_rules.register(mul_p)
def _mul(b: Any, x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    if out_dtype is not None:
        x, y = b.convert(x, out_dtype), b.convert(y, out_dtype)
    return product(b, x, y)


stablehlo_rules.set(div_p, quotient)


@stablehlo_rules.register(square_p)
def _square(b: Any, x: Any) -> Any:
    return product(b, x, x)


@stablehlo_rules.register(integer_pow_p)
def _integer_pow(b: Any, x: Any, *, y: int) -> Any:
    power, square, n = None, x, abs(y)
    while n:
        if n & 1:
            power = square if power is None else product(b, power, square)
        n >>= 1
        if n:
            square = product(b, square, square)
    if power is not None and y > 0:
        return power
    one = b.constant(1, x.aval)
    return one if power is None else quotient(b, one, power)
