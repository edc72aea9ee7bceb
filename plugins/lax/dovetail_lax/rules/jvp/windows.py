"""Derivatives of windowed reductions: those of products and programs follow from their slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive

from ...primitives.discrete import ge_p, le_p
from ...primitives.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_p,
    reduce_window_prod_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from .arithmetic import by_decomposition
from .kinds import linear, nary

linear(reduce_window_sum_p)
by_decomposition(reduce_window_prod_p)
by_decomposition(reduce_window_p)


def _extremum(primitive: Primitive, select: Primitive) -> None:
    """The tangent of the first element in the window that is the extremum."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        answer = primitive.bind(x, **params)
        return answer, select_and_gather_add_p.bind(t, x, select_prim=select, **params)

    jvp_rules.set(primitive, rule)


_extremum(reduce_window_max_p, ge_p)
_extremum(reduce_window_min_p, le_p)


def _scattered(t: Any, answer: Any, source: Any, operand: Any, **params: Any) -> Any:
    return select_and_scatter_add_p.bind(t, operand, **params)


def _gathered(t: Any, answer: Any, tangents: Any, operand: Any, **params: Any) -> Any:
    return select_and_gather_add_p.bind(t, operand, **params)


nary(select_and_scatter_add_p, _scattered, None)
nary(select_and_gather_add_p, _gathered, None)
