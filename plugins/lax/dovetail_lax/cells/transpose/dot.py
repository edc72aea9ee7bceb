"""Transposes of contractions: contractions of the cotangent with the other operand."""

from __future__ import annotations

from functools import cache
from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...primitives.dot import dot_general_p, left_axes
from ...primitives.shape import transpose_p
from .kinds import known

Axes = tuple[int, ...]


@transpose_rules.register(dot_general_p)
def _dot_general(
    ct: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> list[Any]:
    # The cotangent stands where the operand stood that it is for: the other stays on its side.
    left = is_linear(lhs)
    x, y = (lhs, rhs) if left else (rhs, lhs)
    known("dot_general", 1, y)
    aval = x.aval
    dims, order = _plan(dimension_numbers, len(aval.shape), len(y.shape), left)
    out = dot_general_p.bind(
        *((ct, y) if left else (y, ct)),
        dimension_numbers=dims,
        precision=precision,
        preferred_element_type=(
            None if preferred_element_type is None and ct.dtype == aval.dtype else aval.dtype
        ),
    )
    if order is not None:
        out = transpose_p.bind(out, permutation=order)
    return [out, None] if left else [None, out]


@cache
def _plan(numbers: Any, ndim: int, ndim_other: int, left: bool) -> tuple[Any, Axes | None]:
    """Dimension numbers of cotangent and other operand, and how to order the result's axes."""
    contract, batch = numbers
    mine, other = (0, 1) if left else (1, 0)
    kept = left_axes(ndim, contract[mine], batch[mine])
    kept_other = left_axes(ndim_other, contract[other], batch[other])
    n = len(batch[mine])
    # The cotangent's axes: batch, those kept of the left operand, those kept of the right one.
    first = n + len(kept) if left else n
    over = tuple(range(first, first + len(kept_other)))
    leading = tuple(range(n))
    # The other operand's contracted axes are left over, in ascending order: which are they here?
    paired = tuple([a for _, a in sorted(zip(contract[other], contract[mine]))])
    if left:
        dims = ((over, kept_other), (leading, batch[other]))
        places = (*batch[mine], *kept, *paired)
    else:
        dims = ((kept_other, over), (batch[other], leading))
        places = (*batch[mine], *paired, *kept)
    order = tuple(sorted(range(ndim), key=places.__getitem__))
    return dims, None if order == tuple(range(ndim)) else order
