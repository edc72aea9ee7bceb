"""Derivatives of what makes arrays of all processes: each operation is the other's transpose."""

from __future__ import annotations

from typing import Any

from dovetail_ad import jvp_rules, transpose_rules
from dovetail_core import Primitive

from ..casting import to_global_p, to_local_p


def _linear(primitive: Primitive, other: Primitive) -> None:
    def forward(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
        return primitive.bind(*primals, **params), primitive.bind(*tangents, **params)

    jvp_rules.set(primitive, forward)
    transpose_rules.set(primitive, lambda ct, x, **params: [other.bind(ct, **params)])


_linear(to_global_p, to_local_p)
_linear(to_local_p, to_global_p)
