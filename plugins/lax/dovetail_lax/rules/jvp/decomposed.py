"""Differentiation rules that follow from decompositions, beside values computed as ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules, jvp_values
from dovetail_core import Primitive


def by_decomposition(primitive: Primitive) -> None:
    """Add the rule of a row whose tangents are those of its decomposition.

    Without a rule they would be, too, but then so would the values: rounded otherwise than where
    nothing is differentiated.
    """
    decomposition = primitive.decomposition
    assert decomposition is not None

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        def whole(*xs: Any) -> Sequence[Any]:
            out = decomposition(*xs, **params)
            return out if primitive.multiple_results else [out]

        answer = primitive.bind(*primals, **params)
        found = jvp_values(whole, primals, tangents)[1]
        return answer, found if primitive.multiple_results else found[0]

    jvp_rules.set(primitive, rule)
