"""Lowering of passes over loops of high values to the arrays that these are made of."""

from __future__ import annotations

from typing import Any

from dovetail_core import to_lo_rules
from dovetail_high.lowering import LowCarrier

from ..lifting import lifted_forward, lifted_reverse
from ..primitives import forward_p, reverse_p


@to_lo_rules.register(forward_p)
def _forward_to_lo(*args: Any, **params: Any) -> list[Any]:
    return lifted_forward(LowCarrier(forward_p.name), args, params)


@to_lo_rules.register(reverse_p)
def _reverse_to_lo(*args: Any, **params: Any) -> list[Any]:
    carrier = LowCarrier(reverse_p.name)
    return lifted_reverse(carrier, args, params, lambda a: a if a.is_high else None)
