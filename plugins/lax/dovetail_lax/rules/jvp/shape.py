"""Derivatives of what rearranges, joins and slices arrays, which are linear in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive, typeof, zeros_like_aval

from ...primitives.shape import (
    broadcast_in_dim_p,
    concatenate_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    squeeze_p,
    stack_p,
    tile_p,
    transpose_p,
    unstack_p,
)
from .kinds import linear

for _primitive in (reshape_p, transpose_p, broadcast_in_dim_p, squeeze_p, rev_p):
    linear(_primitive)


linear(slice_p)


@jvp_rules.register(dynamic_slice_p)
def _dynamic_slice_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, slice_sizes: tuple[int, ...]
) -> tuple[Any, Any]:
    operand, *starts = primals
    out = dynamic_slice_p.bind(operand, *starts, slice_sizes=slice_sizes)
    return out, dynamic_slice_p.bind(tangents[0], *starts, slice_sizes=slice_sizes)


@jvp_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    operand, update, *starts = primals
    dense = filled(operand, tangents[0]), filled(update, tangents[1])
    return (
        dynamic_update_slice_p.bind(operand, update, *starts),
        dynamic_update_slice_p.bind(*dense, *starts),
    )


def filled(primal: Any, tangent: Any) -> Any:
    """The tangent of ``primal``, as an array also where it is zero."""
    return zeros_like_aval(typeof(primal).tangent_type()) if tangent is None else tangent


def _jointly_linear(primitive: Primitive) -> None:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        dense = [filled(p, t) for p, t in zip(primals, tangents)]
        return primitive.bind(*primals, **params), primitive.bind(*dense, **params)

    jvp_rules.set(primitive, rule)


for _primitive in (concatenate_p, pad_p, stack_p):
    _jointly_linear(_primitive)
for _primitive in (split_p, unstack_p, tile_p):
    linear(_primitive)
