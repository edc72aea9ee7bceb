"""Derivatives of values with metadata: those of the values, which have none."""

from __future__ import annotations

from typing import Any

from dovetail_ad import jvp_rules

from ..primitives import xla_metadata_value_p


@jvp_rules.register(xla_metadata_value_p)
def _value_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    return xla_metadata_value_p.bind(*primals, **params), tangents[0]
