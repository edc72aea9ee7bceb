"""Differentiation: the primal value stays sown, its tangent is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ..sow import sow_p


@jvp_rules.register(sow_p)
def _sow_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, name: str) -> tuple[Any, Any]:
    return sow_p.bind(primals[0], name=name), tangents[0]
