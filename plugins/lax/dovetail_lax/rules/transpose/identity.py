"""Transposition of copies and barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import transpose_rules

from ...primitives.identity import copy_p, optimization_barrier_p
from .kinds import unary

unary(copy_p, lambda ct, x: copy_p.bind(ct))


@transpose_rules.register(optimization_barrier_p)
def _optimization_barrier(cts: Sequence[Any], *operands: Any) -> list[Any]:
    moved = iter(optimization_barrier_p.bind(*[ct for ct in cts if ct is not None]))
    return [None if ct is None else next(moved) for ct in cts]
