"""Derivatives of cumulative operations: those of products and extrema follow from their trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.arithmetic import add_p, mul_p, sub_p
from ...primitives.comparison import eq_p
from ...primitives.cumulative import (
    cumlogsumexp_p,
    cummax_p,
    cummin_p,
    cumprod_p,
    cumsum_p,
    logaddexp,
)
from ...primitives.exponential import exp_p
from ...primitives.moves import reversed_along
from ...primitives.selection import select_n_p
from ...primitives.trees import scan
from ...scalars import scalar
from .decomposed import by_decomposition
from .kinds import linear

linear(cumsum_p)
by_decomposition(cumprod_p)
by_decomposition(cummax_p)
by_decomposition(cummin_p)


@jvp_rules.register(cumlogsumexp_p)
def _cumlogsumexp(
    primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, reverse: bool
) -> tuple[Any, Any]:
    # The tangent of a log-sum-exp is the mean of tangents weighted by exp(x - log-sum-exp). Pairs
    # of log-sum-exp and mean combine associatively, and no weight ever overflows.
    pair = [reversed_along(x, (axis,)) if reverse else x for x in (*primals, *tangents)]
    tangent = scan(pair, _weighted, axis)[1]
    answer = cumlogsumexp_p.bind(primals[0], axis=axis, reverse=reverse)
    return answer, reversed_along(tangent, (axis,)) if reverse else tangent


def _weighted(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    total = logaddexp(a[0], b[0])
    return [total, add_p.bind(_share(a, total), _share(b, total))]


def _share(part: Sequence[Any], total: Any) -> Any:
    x, tangent = part
    # Where both are the same infinity their difference is NaN, the weight 1.
    weight = exp_p.bind(sub_p.bind(x, total))
    weight = select_n_p.bind(eq_p.bind(x, total), weight, scalar(1.0, x.dtype))
    return mul_p.bind(tangent, weight)
