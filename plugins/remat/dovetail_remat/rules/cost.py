"""Costs of the identities ``name`` and ``place``: none."""

from __future__ import annotations

from typing import Any

from dovetail_cost import cost_rules

from ..primitive import name_p, place_p


def _free(ins: Any, outs: Any, /, **params: Any) -> float:
    return 0.0


cost_rules.set(name_p, _free)
cost_rules.set(place_p, _free)
