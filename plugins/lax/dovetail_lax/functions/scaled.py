"""``scaled_dot``: contractions of narrow numbers that have scales for blocks of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from dovetail_core import ShapedArray

from ..dtypes import as_dtype
from ..primitives._elementwise import place
from ..primitives.arithmetic import mul_p
from ..primitives.contractions import DotDimensionNumbers
from ..primitives.moves import full, repeated, reshaped
from ..primitives.values import convert_element_type_p
from ._args import Array, ArrayLike, check
from .composite import composite
from .dot import dot_general


def scaled_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    lhs_scale: ArrayLike | None = None,
    rhs_scale: ArrayLike | None = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: Any = None,
) -> Array:
    """``dot_general`` of operands that are multiplied by scales first.

    Along each axis a scale has the operand's size, or along summed ones a divisor of it: then one
    scale holds for a block of elements. Accelerators that multiply such blocks know the operation
    by its name (``xla.scaled_dot``); elsewhere it is multiplied out.

    Args:
        lhs_scale, rhs_scale: arrays of as many axes as the operands; None for 1.
        dimension_numbers: as of ``dot_general``; by default the last axis of ``lhs`` and the second
            to last of ``rhs`` are summed, and all axes before are batch axes.
        preferred_element_type: of the products and of the result; ``bfloat16`` by default.

    Raises:
        TypeError: scales do not fit their operand, or operands each other.
    """
    a, b = check("scaled_dot", lhs), check("scaled_dot", rhs)
    dims = _canonical(dimension_numbers, a, b)
    dtype = as_dtype("bfloat16" if preferred_element_type is None else preferred_element_type)
    (contract_l, contract_r), _ = dims
    given = [lhs, rhs]
    for side, x, scale, summed in (
        ("lhs", a, lhs_scale, contract_l),
        ("rhs", b, rhs_scale, contract_r),
    ):
        if scale is not None:
            _check_scale(side, x, check("scaled_dot", scale), summed)
        if scale is None:
            ones = tuple(1 if i in summed else d for i, d in enumerate(x.shape))
            scale = full(ones, 1, dtype)
        given.append(scale)
    numbers = [[list(axes) for axes in pair] for pair in dims]
    products = composite(partial(_multiplied, dims, dtype), "xla.scaled_dot")
    return products(*given, dimension_numbers=numbers, preferred_element_type=dtype)


def _canonical(dims: Any, a: ShapedArray, b: ShapedArray) -> Any:
    if dims is not None:
        (cl, cr), (bl, br) = dims
        return (tuple(cl), tuple(cr)), (tuple(bl), tuple(br))
    n = len(a.shape)
    if n < 2 or len(b.shape) != n:
        raise TypeError(
            f"lax.scaled_dot got {a.str_short()} and {b.str_short()}{place()}: without "
            "dimension_numbers it takes arrays of one number of axes, at least two."
        )
    batch = tuple(range(n - 2))
    return ((n - 1,), (n - 2,)), (batch, batch)


def _check_scale(side: str, x: ShapedArray, scale: ShapedArray, summed: tuple[int, ...]) -> None:
    fits = len(scale.shape) == len(x.shape) and all(
        s == d or (i in summed and s > 0 and d % s == 0)
        for i, (s, d) in enumerate(zip(scale.shape, x.shape))
    )
    if not fits:
        raise TypeError(
            f"lax.scaled_dot got {side}_scale {scale.str_short()} for {side} {x.str_short()}"
            f"{place()}: it has the operand's size along each axis, or a divisor of it along those "
            f"that are summed, {summed}."
        )


def _multiplied(
    dims: Any, dtype: Any, lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any, **_: Any
) -> Any:
    x, y = _scaled(lhs, lhs_scale, dtype), _scaled(rhs, rhs_scale, dtype)
    return dot_general(x, y, dims, preferred_element_type=dtype)


def _scaled(x: Any, scale: Any, dtype: Any) -> Any:
    for i, d in enumerate(x.shape):
        n = scale.shape[i]
        if n != d:
            blocks = repeated(scale, d // n, i + 1)
            scale = reshaped(blocks, (*scale.shape[:i], d, *scale.shape[i + 1 :]))
    factors = [convert_element_type_p.bind(v, new_dtype=dtype, weak_type=False) for v in (x, scale)]
    return mul_p.bind(*factors)
