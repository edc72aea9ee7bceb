"""Reductions, sorts, partial results along an axis, and collectives."""

from __future__ import annotations

from typing import Any

from dovetail_sharding.types import Application, Parts, infer_rules, same, undivided_along, without

from ...primitives import collectives as c, reductions as r
from ...primitives.sorting import approx_top_k_p, sort_p, top_k_p

_REDUCTIONS = (
    r.reduce_sum_p, r.reduce_prod_p, r.reduce_max_p, r.reduce_min_p, r.reduce_and_p, r.reduce_or_p,
    r.reduce_xor_p, r.argmax_p, r.argmin_p,
)  # fmt: skip


def _reduction(app: Application, /, *, axes: tuple[int, ...], **params: Any) -> Parts:
    """The division without the reduced axes, along which devices reduce together."""
    return without(app.parts(0), axes)


for _p in _REDUCTIONS:
    infer_rules.set(_p, _reduction)


@infer_rules.register(r.reduce_p)
def _reduce(app: Application, /, *, dimensions: tuple[int, ...], **params: Any) -> list[Parts]:
    n = len(app.ins) // 2
    for i in range(n):  # each device would begin with the initial value
        undivided_along(app, dimensions, i)
    return [without(_alike(app, n), dimensions)] * n


def _alike(app: Application, count: int) -> Parts:
    """The common division of the first operands, which have one shape."""
    parts = app.all_parts[:count]
    dims = range(len(parts[0]))
    return tuple(app.merged(f"dimension {d}", [p[d] for p in parts]) for d in dims)


def _cumulative(app: Application, /, *, axis: int, **params: Any) -> Parts:
    undivided_along(app, (axis,))
    return app.parts(0)


for _p in (r.cumsum_p, r.cumprod_p, r.cummax_p, r.cummin_p, r.cumlogsumexp_p):
    infer_rules.set(_p, _cumulative)


@infer_rules.register(sort_p)
def _sort(app: Application, /, *, dimension: int, **params: Any) -> list[Parts]:
    for i in range(len(app.ins)):
        undivided_along(app, (dimension,), i)
    return [_alike(app, len(app.ins))] * len(app.ins)


@infer_rules.register(top_k_p)
def _top_k(app: Application, /, *, axis: int, **params: Any) -> list[Parts]:
    undivided_along(app, (axis,))
    return [app.parts(0)] * 2


@infer_rules.register(approx_top_k_p)
def _approx_top_k(app: Application, /, *, reduction_dimension: int, **params: Any) -> list[Parts]:
    undivided_along(app, (reduction_dimension,))
    return [app.parts(0)] * 2


for _p in (c.psum_p, c.pmax_p, c.pmin_p, c.psum_invariant_p, c.pvary_p, c.pcast_p, c.ppermute_p):
    infer_rules.set(_p, same)


def _all_gather(app: Application, /, *, axis: int, **params: Any) -> Parts:
    parts = app.parts(0)
    return (*parts[:axis], None, *parts[axis:])


infer_rules.set(c.all_gather_p, _all_gather)
infer_rules.set(c.all_gather_invariant_p, _all_gather)
infer_rules.set(c.all_gather_reduced_p, _all_gather)


@infer_rules.register(c.reduce_scatter_p)
def _reduce_scatter(app: Application, /, *, axis: int, **params: Any) -> Parts:
    undivided_along(app, (axis,))
    return without(app.parts(0), (axis,))


@infer_rules.register(c.all_to_all_p)
def _all_to_all(app: Application, /, *, split_axis: int, concat_axis: int, **params: Any) -> Parts:
    undivided_along(app, (split_axis,))
    rest = list(without(app.parts(0), (split_axis,)))
    rest.insert(concat_axis, None)
    return tuple(rest)
