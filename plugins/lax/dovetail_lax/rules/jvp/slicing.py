"""Derivatives of slices: linear in the array and the update, and the starts are integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.slicing import dynamic_slice_p, dynamic_update_slice_p, slice_p
from .joining import filled
from .kinds import linear

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
