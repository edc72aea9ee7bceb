"""Derivative of gather: linear in the array; what is filled in has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.gather import gather_p


@jvp_rules.register(gather_p)
def _gather_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, fill_value: Any, **params: Any
) -> tuple[Any, Any]:
    operand, indices = primals
    out = gather_p.bind(operand, indices, fill_value=fill_value, **params)
    zero = None if fill_value is None else 0
    return out, gather_p.bind(tangents[0], indices, fill_value=zero, **params)
