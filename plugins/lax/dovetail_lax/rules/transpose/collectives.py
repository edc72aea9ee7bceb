"""Cotangents through collectives."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_ad import is_linear, transpose_rules, transposed_type
from dovetail_core import manual_axis_types, typeof, zeros_like_aval

from ...primitives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    axis_index_p,
    pcast_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    pvary_p,
    reduce_scatter_p,
    sum_over,
    vary_over,
    with_roles,
)
from ...primitives.ragged_collectives import (
    exchanged,
    ragged_all_to_all_p,
    received,
    rows_where,
)


@transpose_rules.register(psum_p)
def _psum(ct: Any, x: Any, **params: Any) -> list[Any]:
    # Each instance's output sums all inputs, so an input's cotangent sums all outputs' ones.
    return [psum_p.bind(ct, **params)]


@transpose_rules.register(psum_invariant_p)
def _psum_invariant(ct: Any, x: Any, *, axes: Any) -> list[Any]:
    # There is one output, and one cotangent: each instance's input has that.
    return [vary_over(ct, manual_axis_types.dual(axes))]


@transpose_rules.register(pvary_p)
def _pvary(ct: Any, x: Any, *, axes: Any) -> list[Any]:
    return [sum_over(ct, manual_axis_types.axes_of(axes))]


@transpose_rules.register(pcast_p)
def _pcast(ct: Any, x: Any, *, axes: Any, to: str) -> list[Any]:
    # Of a sum's summands each has the cotangent of the sum; what was reduced wants summands.
    return [with_roles(ct, transposed_type(typeof(x)).vma)]


@transpose_rules.register(ppermute_p)
def _ppermute(ct: Any, x: Any, *, perm: Any, **params: Any) -> list[Any]:
    return [ppermute_p.bind(ct, **params, perm=tuple((d, s) for s, d in perm))]


@transpose_rules.register(all_gather_p)
def _all_gather(ct: Any, x: Any, *, axis: int, **params: Any) -> list[Any]:
    return [reduce_scatter_p.bind(ct, **params, axis=axis)]


@transpose_rules.register(all_gather_reduced_p)
def _all_gather_reduced(ct: Any, x: Any, *, axis: int, **params: Any) -> list[Any]:
    ct = with_roles(ct, manual_axis_types.cotangent_vma(typeof(x).vma.difference(params["axes"])
        .union(map(manual_axis_types.Reduced, params["axes"]))))  # fmt: skip
    return [reduce_scatter_p.bind(ct, **params, axis=axis)]


@transpose_rules.register(reduce_scatter_p)
def _reduce_scatter(ct: Any, x: Any, *, axis: int, **params: Any) -> list[Any]:
    is_sum = manual_axis_types.Unreduced(params["axes"][0]) in typeof(x).vma
    gather = all_gather_reduced_p if is_sum else all_gather_p
    return [gather.bind(ct, **params, axis=axis)]


@transpose_rules.register(all_gather_invariant_p)
def _all_gather_invariant(ct: Any, x: Any, *, axis: int, **params: Any) -> list[Any]:
    from ...functions.slicing import dynamic_index_in_dim

    at = vary_over(axis_index_p.bind(**params), params["axes"])
    return [dynamic_index_in_dim(ct, at, axis, keepdims=False)]


@transpose_rules.register(all_to_all_p)
def _all_to_all(ct: Any, x: Any, *, split_axis: int, concat_axis: int, **params: Any) -> list[Any]:
    return [all_to_all_p.bind(ct, **params, split_axis=concat_axis, concat_axis=split_axis)]


@transpose_rules.register(ragged_all_to_all_p)
def _ragged_all_to_all(
    ct: Any, x: Any, out: Any, starts: Any, sizes: Any, positions: Any, here: Any, **axis: Any
) -> list[Any]:
    # Rows go back where they came from, and what was replaced has no part in the result.
    positions_here = exchanged(positions, axis)
    cts: list[Any] = [None] * 6
    if is_linear(x):
        blank = vary_over(zeros_like_aval(transposed_type(typeof(x))), axis["axes"])
        back = exchanged(starts, axis)
        cts[0] = ragged_all_to_all_p.bind(ct, blank, positions_here, here, back, sizes, **axis)
    if is_linear(out):
        replaced = received(ct, positions_here, here) > np.int32(0)
        cts[1] = rows_where(replaced, vary_over(zeros_like_aval(typeof(ct)), axis["axes"]), ct)
    return cts
