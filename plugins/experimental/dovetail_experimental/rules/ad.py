"""Derivatives: those of values with metadata have none, those of arrays with a layout have it."""

from __future__ import annotations

from typing import Any

from dovetail_ad import jvp_rules, transpose_rules

from ..primitives import layout_constraint_p, xla_metadata_value_p


@jvp_rules.register(xla_metadata_value_p)
def _value_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    return xla_metadata_value_p.bind(*primals, **params), tangents[0]


@jvp_rules.register(layout_constraint_p)
def _layout_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    bind = layout_constraint_p.bind
    return bind(*primals, **params), bind(*tangents, **params)


@transpose_rules.register(layout_constraint_p)
def _layout_transpose(cotangent: Any, x: Any, **params: Any) -> list[Any]:
    return [layout_constraint_p.bind(cotangent, **params)]
