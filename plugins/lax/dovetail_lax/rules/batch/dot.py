"""Contractions over a mapped axis: always one contraction.

An axis that both operands have becomes a batch axis; one that only one of them has is an axis that
it keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.dot import dot_general_p, left_axes
from .axes import shifted


@batch_rules.register(dot_general_p)
def _dot_general(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> tuple[Any, int]:
    lhs, rhs = args
    # An operand that is not mapped may be a Python scalar, without a shape.
    sides = (len(getattr(lhs, "shape", ())), len(getattr(rhs, "shape", ())))
    numbers, out_dim = _plan(dimension_numbers, sides[0], sides[1], dims[0], dims[1])
    out = dot_general_p.bind(
        lhs,
        rhs,
        dimension_numbers=numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    return out, out_dim


@cache
def _plan(
    numbers: Any, ndim_l: int, ndim_r: int, dim_l: int | None, dim_r: int | None
) -> tuple[Any, int]:
    """Dimension numbers of the mapped operands, and where the mapped axis is in the result."""
    (contract_l, contract_r), (batch_l, batch_r) = numbers
    if dim_l is not None:
        contract_l, batch_l = shifted(contract_l, dim_l), shifted(batch_l, dim_l)
    if dim_r is not None:
        contract_r, batch_r = shifted(contract_r, dim_r), shifted(batch_r, dim_r)
    if dim_l is not None and dim_r is not None:
        batch_l, batch_r = (dim_l, *batch_l), (dim_r, *batch_r)
        out_dim = 0
    else:
        left = left_axes(ndim_l, contract_l, batch_l)
        if dim_l is not None:
            out_dim = len(batch_l) + left.index(dim_l)
        else:
            right = left_axes(ndim_r, contract_r, batch_r)
            assert dim_r is not None
            out_dim = len(batch_l) + len(left) + right.index(dim_r)
    return ((contract_l, contract_r), (batch_l, batch_r)), out_dim
