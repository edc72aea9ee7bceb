"""Products of matrices of narrow types, in the types for which XLA has kernels for the CPU.

It multiplies bfloat16 fast where the result is float32, and int8 where it is int32; asked for
results of the operands' type it converts the operands, or multiplies one element after the other.
The wider result converted is the same: sums of bfloat16 are rounded to it once either way, integers
wrap around.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_lax import dot_general_p

from ...library import cpu_kernels, serves

_FLOAT32, _INT32 = np.dtype(np.float32), np.dtype(np.int32)
_BY_RESULT = {"bfloat16": (_FLOAT32, 16), "int8": (_INT32, 32)}
_BY_OPERANDS = {"uint8": (_INT32, 64), "int16": (_INT32, 64), "uint16": (_INT32, 64)}
"""The type to multiply in, and the length of sums from which that is faster."""
_LEAST = 1 << 18
"""The number of multiplications from which it was faster."""


@stablehlo_rules.register(dot_general_p, override=True)
def _dot_general(b: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    plain = stablehlo_rules.replaced(dot_general_p, _dot_general)
    out, name = b.out, lhs.aval.dtype.name
    result = _BY_RESULT.get(name) or _BY_OPERANDS.get(name)
    if (
        not result
        or not lhs.aval.dtype == rhs.aval.dtype == out.dtype
        or not _may_be_wider(b, params)
    ):
        return plain(b, lhs, rhs, **params)
    wide, longest = result
    if not _is_large(lhs.aval.shape, rhs.aval.shape, params["dimension_numbers"], longest):
        return plain(b, lhs, rhs, **params)
    if name in _BY_OPERANDS:
        lhs, rhs = b.convert(lhs, wide), b.convert(rhs, wide)
    elif serves(b):
        lhs, params = _summed_last(b, lhs, params)
    return in_wider_type(b, wide, lambda: plain(b, lhs, rhs, **params))


def _summed_last(b: Any, x: Any, params: Any) -> Any:
    """The left operand with its sums along the last axes, where they are between the batches and
    the rest: XLA has no fast code for that, and would undo a transposition of its own."""
    (summed, others), (batch, batches) = params["dimension_numbers"]
    n, k, shape = len(batch), len(summed), x.aval.shape
    if (
        tuple(batch) != tuple(range(n))
        or tuple(summed) != tuple(range(n, n + k))
        or n + k == len(shape)
    ):
        return x, params
    sizes = [prod(shape[:n]), prod(shape[n : n + k]), prod(shape[n + k :])]
    kept = shape[n + k :]
    flat = b.op("stablehlo.reshape", [x], x.aval.update(shape=tuple(sizes)))
    turned = x.aval.update(shape=(sizes[0], sizes[2], sizes[1]))
    flat = b.custom_call("dovetail_cpu_transpose", [flat], [turned])[0]
    out = x.aval.update(shape=(*shape[:n], *kept, *shape[n : n + k]))
    last = tuple(range(n + len(kept), len(shape)))
    numbers = ((last, others), (batch, batches))
    return b.op("stablehlo.reshape", [flat], out), params | {"dimension_numbers": numbers}


def _may_be_wider(b: Any, params: Any) -> bool:
    """Tell whether the caller left open how to multiply."""
    precision = params["precision"]
    return (
        b.platform == "cpu"
        and cpu_kernels.value
        and (precision is None or type(precision) is tuple)
    )


def _is_large(left: Any, right: Any, numbers: Any, longest: int) -> bool:
    (summed, _), (batch, _) = numbers
    k, batches = prod(left[i] for i in summed), prod(left[i] for i in batch)
    least = max(k * batches, 1)
    m, n = prod(left) // least, prod(right) // least
    return k >= longest and min(m, n) > 1 and batches * m * k * n >= _LEAST


def in_wider_type(b: Any, dtype: Any, lower: Any) -> Any:
    """The result of ``lower`` with results of ``dtype``, converted to the required type."""
    outs = b.outs
    b.outs = (outs[0].update(dtype=dtype),)
    try:
        result = lower()
    finally:
        b.outs = outs
    return b.convert(result, outs[0].dtype)
