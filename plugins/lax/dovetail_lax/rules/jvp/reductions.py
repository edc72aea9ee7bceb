"""Derivatives of reductions, also cumulative ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive

from ...primitives import reductions as r
from ...primitives.arithmetic import add_p, div_p, mul_p, sub_p
from ...primitives.decompositions import scan
from ...primitives.discrete import eq_p
from ...primitives.moves import reversed_along
from ...primitives.reductions import logaddexp
from ...primitives.shape import broadcast_in_dim_p
from ...primitives.transcendental import exp_p
from ...primitives.values import convert_element_type_p, select_n_p
from ...scalars import scalar
from .arithmetic import by_decomposition
from .kinds import linear, zero

linear(r.reduce_sum_p)
by_decomposition(r.reduce_prod_p)
by_decomposition(r.reduce_p)
for _primitive in (r.reduce_and_p, r.reduce_or_p, r.reduce_xor_p, r.argmax_p, r.argmin_p):
    zero(_primitive)


def _extremum(primitive: Primitive) -> None:
    """The mean of the tangents of all elements that are equal to the extremum."""

    def rule(
        primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]
    ) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        answer = primitive.bind(x, axes=axes)
        if not axes:
            return answer, t
        shape: tuple[int, ...] = x.shape
        if not all(shape[i] for i in axes):
            return answer, None  # no element to depend on
        kept = tuple([i for i in range(len(shape)) if i not in axes])
        wide = broadcast_in_dim_p.bind(answer, shape=shape, broadcast_dimensions=kept)
        at = convert_element_type_p.bind(eq_p.bind(x, wide), new_dtype=x.dtype, weak_type=False)
        count = r.reduce_sum_p.bind(at, axes=axes)
        total = r.reduce_sum_p.bind(mul_p.bind(t, at), axes=axes)
        return answer, div_p.bind(total, count)

    jvp_rules.set(primitive, rule)


_extremum(r.reduce_max_p)
_extremum(r.reduce_min_p)


linear(r.cumsum_p)
by_decomposition(r.cumprod_p)
by_decomposition(r.cummax_p)
by_decomposition(r.cummin_p)


@jvp_rules.register(r.cumlogsumexp_p)
def _cumlogsumexp(
    primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, reverse: bool
) -> tuple[Any, Any]:
    # The tangent of a log-sum-exp is the mean of tangents weighted by exp(x - log-sum-exp). Pairs
    # of log-sum-exp and mean combine associatively, and no weight ever overflows.
    pair = [reversed_along(x, (axis,)) if reverse else x for x in (*primals, *tangents)]
    tangent = scan(pair, _weighted, axis)[1]
    answer = r.cumlogsumexp_p.bind(primals[0], axis=axis, reverse=reverse)
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
