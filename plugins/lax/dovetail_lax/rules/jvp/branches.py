"""Differentiation of what a branch takes that not all elements of a mapped axis take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.branches import Places, bind_taken, taken_p, zero_elsewhere, zeroed_operands


@jvp_rules.register(taken_p)
def _taken(
    primals: Sequence[Any], tangents: Sequence[Any], *, case: int, places: Places, zeroed: bool
) -> tuple[list[Any], list[Any]]:
    index, *operands = primals
    params: dict[str, Any] = {"case": case, "places": places, "zeroed": zeroed}
    outs = bind_taken(index, zeroed_operands(index, operands, **params), **params)
    return outs, [
        None if t is None else zero_elsewhere(index, case, at, t)
        for t, at in zip(tangents[1:], places)
    ]
