"""Transposes of contractions: contractions of the cotangent with the other operand."""

from __future__ import annotations

from functools import cache
from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...moves import transposed
from ...primitives.dot import dot_general_p, left_axes

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
    if is_linear(lhs):
        numbers = dimension_numbers
        return [_operand(ct, lhs, rhs, numbers, precision, preferred_element_type, False), None]
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    numbers = ((contract_r, contract_l), (batch_r, batch_l))
    if precision.__class__ is tuple:
        precision = precision[::-1]
    return [None, _operand(ct, rhs, lhs, numbers, precision, preferred_element_type, True)]


def _operand(
    ct: Any, x: Any, y: Any, numbers: Any, precision: Any, preferred: Any, swapped: bool
) -> Any:
    """The cotangent of ``x``, where ``numbers`` name its axes first."""
    aval = x.aval
    dims, order = _plan(numbers, len(aval.shape), len(y.shape), swapped)
    narrow = preferred is not None or ct.dtype != aval.dtype
    out = dot_general_p.bind(
        ct,
        y,
        dimension_numbers=dims,
        precision=precision,
        preferred_element_type=aval.dtype if narrow else None,
    )
    return out if order is None else transposed(out, order)


@cache
def _plan(numbers: Any, ndim_x: int, ndim_y: int, swapped: bool) -> tuple[Any, Axes | None]:
    """Dimension numbers of the cotangent with ``y``, and the order that puts axes as in ``x``."""
    (contract_x, contract_y), (batch_x, batch_y) = numbers
    kept_x = left_axes(ndim_x, contract_x, batch_x)
    kept_y = left_axes(ndim_y, contract_y, batch_y)
    n = len(batch_x)
    # The cotangent's axes are batch, then those kept of the first operand and of the second.
    first = n + (0 if swapped else len(kept_x))
    over = tuple(range(first, first + len(kept_y)))
    dims = ((over, kept_y), (tuple(range(n)), batch_y))
    # The result's axes: batch, then kept_x, then y's contracted axes in ascending order.
    paired = tuple([cx for _, cx in sorted(zip(contract_y, contract_x))])
    places = (*batch_x, *kept_x, *paired)
    order = tuple(sorted(range(ndim_x), key=places.__getitem__))
    return dims, None if order == tuple(range(ndim_x)) else order
