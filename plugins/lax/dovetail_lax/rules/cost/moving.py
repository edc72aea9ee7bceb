"""Operations that only say how memory is to be read."""

from __future__ import annotations

from typing import Any

from dovetail_remat import cost_rules

from ...primitives.shape import broadcast_in_dim_p, reshape_p, squeeze_p
from ...primitives.values import copy_p, iota_p


def _free(ins: Any, outs: Any, /, **params: Any) -> float:
    return 0.0


for _primitive in (broadcast_in_dim_p, copy_p, iota_p, reshape_p, squeeze_p):
    cost_rules.set(_primitive, _free)
