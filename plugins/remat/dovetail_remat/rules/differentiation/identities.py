"""Differentiating and batching the identities ``name`` and ``place``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import is_linear, jvp_rules, transpose_rules

from ...primitive import name_p, place_p


@jvp_rules.register(name_p)
def _name_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, name: str) -> tuple[Any, Any]:
    return name_p.bind(primals[0], name=name), tangents[0]


@jvp_rules.register(place_p)
def _place_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, src: str, dst: str
) -> tuple[Any, Any]:
    """A tangent is as large as its primal, and is kept as long."""
    out, tangent = (place_p.bind(x, src=src, dst=dst) for x in (primals[0], tangents[0]))
    return out, tangent


@transpose_rules.register(place_p)
def _place_transpose(cotangent: Any, x: Any, *, src: str, dst: str) -> list[Any]:
    return [place_p.bind(cotangent, src=dst, dst=src) if is_linear(x) else None]
