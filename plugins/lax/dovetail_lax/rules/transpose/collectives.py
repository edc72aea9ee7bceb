"""Cotangents through collectives."""

from __future__ import annotations

from typing import Any

from dovetail_ad import transpose_rules

from ...primitives.collectives import all_gather_p, all_to_all_p, axis_index_p, ppermute_p, psum_p


@transpose_rules.register(psum_p)
def _psum(ct: Any, x: Any, **params: Any) -> list[Any]:
    # Each instance's output sums all inputs, so an input's cotangent sums all outputs' ones.
    return [psum_p.bind(ct, **params)]


@transpose_rules.register(ppermute_p)
def _ppermute(ct: Any, x: Any, *, perm: Any, **params: Any) -> list[Any]:
    return [ppermute_p.bind(ct, **params, perm=tuple((d, s) for s, d in perm))]


@transpose_rules.register(all_gather_p)
def _all_gather(ct: Any, x: Any, *, axis: int, **params: Any) -> list[Any]:
    from ...functions.dynamic_slicing import dynamic_index_in_dim

    total = psum_p.bind(ct, **params)
    return [dynamic_index_in_dim(total, axis_index_p.bind(**params), axis, keepdims=False)]


@transpose_rules.register(all_to_all_p)
def _all_to_all(ct: Any, x: Any, *, split_axis: int, concat_axis: int, **params: Any) -> list[Any]:
    return [all_to_all_p.bind(ct, **params, split_axis=concat_axis, concat_axis=split_axis)]
