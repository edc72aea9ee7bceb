"""Transposes of cumulative operations."""

from __future__ import annotations

from typing import Any

from dovetail_ad import transpose_rules

from ...primitives.cumulative import cumsum_p


@transpose_rules.register(cumsum_p)
def _cumsum(ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
    return [cumsum_p.bind(ct, axis=axis, reverse=not reverse)]
