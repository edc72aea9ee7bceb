"""Lowering of arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules

from ...dtypes import iinfo, kind_of
from ...primitives.arithmetic import (
    abs_p,
    add_p,
    cbrt_p,
    max_p,
    min_p,
    mulhi_p,
    neg_p,
    nextafter_p,
    pow_p,
    rem_p,
    rsqrt_p,
    sign_p,
    sqrt_p,
    sub_p,
)
from .kinds import accurate, compare, elementwise, lexicographic, result_accuracy, select
from .products import broadcast

elementwise(add_p, "stablehlo.add")
elementwise(sub_p, "stablehlo.subtract")
elementwise(rem_p, "stablehlo.remainder")
elementwise(neg_p, "stablehlo.negate")
elementwise(abs_p, "stablehlo.abs")
elementwise(nextafter_p, "chlo.next_after")
accurate(sqrt_p, "stablehlo.sqrt")
accurate(rsqrt_p, "stablehlo.rsqrt")


@stablehlo_rules.register(cbrt_p)
def _cbrt(b: Any, x: Any, *, accuracy: Any = None) -> Any:
    """With a step of Newton's method: XLA's is by a power, off by 10 roundings for small x."""
    attrs = "" if accuracy is None else result_accuracy(accuracy)
    y, aval = b.op("stablehlo.cbrt", [x], b.out, attrs), b.out
    if aval.dtype.itemsize < 4 or accuracy is not None:
        return y

    def op(name: str, *operands: Any) -> Any:
        return b.op(f"stablehlo.{name}", list(operands), aval)

    lost = op("subtract", op("divide", op("divide", x, y), y), y)
    better = op("add", y, op("multiply", lost, b.constant(1 / 3, aval)))
    return select(b, compare(b, "EQ", better, better), better, y)  # NaN of 0 and of infinity


@stablehlo_rules.register(mulhi_p)
def _mulhi(b: Any, x: Any, y: Any) -> Any:
    x, y = broadcast(b, (x, y))
    if b.module.partition is None:
        return b.op("chlo.mulhi", [x, y], b.out)
    # XLA's partitioner does not know the operation.
    bits = iinfo(b.out.dtype).bits
    shift = (
        f"stablehlo.shift_right_{'arithmetic' if kind_of(b.out.dtype) == 'signed' else 'logical'}"
    )
    if bits == 64:
        return _mulhi_64(b, x, y, shift)
    unsigned = "" if kind_of(b.out.dtype) == "signed" else "u"
    wide = np.dtype(f"{unsigned}int{max(2 * bits, 8)}")
    x, y = b.convert(x, wide), b.convert(y, wide)
    product = b.op("stablehlo.multiply", [x, y], x.aval)
    count = b.broadcast_scalar(b.constant(bits, x.aval.update(shape=())), x.aval)
    return b.convert(b.op(shift, [product, count], x.aval), b.out.dtype)


def _mulhi_64(b: Any, x: Any, y: Any, shift: str) -> Any:
    """From products of halves, the sums of which do not overflow."""
    out = b.out

    def number(n: int) -> Any:
        return b.broadcast_scalar(b.constant(n, out.update(shape=())), out)

    def op(name: str, p: Any, q: Any) -> Any:
        return b.op(f"stablehlo.{name}", [p, q], out)

    half, mask = number(32), number(2**32 - 1)
    low_x, low_y = op("and", x, mask), op("and", y, mask)
    high_x, high_y = b.op(shift, [x, half], out), b.op(shift, [y, half], out)
    carry = op("shift_right_logical", op("multiply", low_x, low_y), half)
    middle = op("add", op("multiply", high_x, low_y), carry)
    other = op("add", op("multiply", low_x, high_y), op("and", middle, mask))
    top = op("add", op("multiply", high_x, high_y), b.op(shift, [middle, half], out))
    return op("add", top, b.op(shift, [other, half], out))


@stablehlo_rules.register(sign_p)
def _sign(b: Any, x: Any) -> Any:
    if kind_of(x.aval.dtype) != "unsigned":
        return b.op("stablehlo.sign", [x], b.out)
    zero, one = b.constant(0, x.aval), b.constant(1, x.aval)
    return select(b, compare(b, "EQ", x, zero), zero, one)


@stablehlo_rules.register(pow_p)
def _pow(b: Any, x: Any, y: Any) -> Any:
    return b.op("stablehlo.power", broadcast(b, (x, b.convert(y, x.aval.dtype))), b.out)


def _extremum(op: str, direction: str) -> Any:
    def rule(b: Any, x: Any, y: Any) -> Any:
        x, y = broadcast(b, (x, y))
        if kind_of(x.aval.dtype) != "complex":
            return b.op(op, [x, y], b.out)
        return select(b, lexicographic(b, direction, x, y), x, y)

    return rule


stablehlo_rules.set(max_p, _extremum("stablehlo.maximum", "GT"))
stablehlo_rules.set(min_p, _extremum("stablehlo.minimum", "LT"))
