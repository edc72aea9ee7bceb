"""Transposition of what a branch takes that not all elements of a mapped axis take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...primitives.branches import Places, taken_p, zero_elsewhere


@transpose_rules.register(taken_p)
def _taken(
    cts: Sequence[Any], index: Any, *operands: Any, case: int, places: Places, zeroed: bool
) -> list[Any]:
    return [
        None,
        *(
            zero_elsewhere(index, case, at, ct) if ct is not None and is_linear(x) else None
            for ct, x, at in zip(cts, operands, places)
        ),
    ]
