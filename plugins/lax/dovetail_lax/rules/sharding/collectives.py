"""Collectives, on parts that are divided along further axes."""

from __future__ import annotations

from typing import Any

from dovetail_sharding.types import Application, Parts, infer_rules, same, undivided_along, without

from ...primitives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    pcast_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    pvary_p,
    reduce_scatter_p,
)

for _p in (psum_p, pmax_p, pmin_p, psum_invariant_p, pvary_p, pcast_p, ppermute_p):
    infer_rules.set(_p, same)


def _all_gather(app: Application, /, *, axis: int, **params: Any) -> Parts:
    parts = app.parts(0)
    return (*parts[:axis], None, *parts[axis:])


infer_rules.set(all_gather_p, _all_gather)
infer_rules.set(all_gather_invariant_p, _all_gather)
infer_rules.set(all_gather_reduced_p, _all_gather)


@infer_rules.register(reduce_scatter_p)
def _reduce_scatter(app: Application, /, *, axis: int, **params: Any) -> Parts:
    undivided_along(app, (axis,))
    return without(app.parts(0), (axis,))


@infer_rules.register(all_to_all_p)
def _all_to_all(app: Application, /, *, split_axis: int, concat_axis: int, **params: Any) -> Parts:
    undivided_along(app, (split_axis,))
    rest = list(without(app.parts(0), (split_axis,)))
    rest.insert(concat_axis, None)
    return tuple(rest)
