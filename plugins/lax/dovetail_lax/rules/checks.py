"""Rules of ``checkify.checks``: divisions by zero, indices out of bounds, nans that are no news.

The results of all other primitives are checked for nan, as the table derives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_checkify import DivisionByZeroError, OOBError, Report, check_nan, check_rules
from dovetail_core import typeof

from ..functions.discrete import bitwise_or, eq, gt, lt
from ..functions.reductions import argmax, reduce_or
from ..functions.shape import concatenate, reshape
from ..functions.values import convert_element_type
from ..primitives import arithmetic as a, gather as g, shape as s, values as v
from ..primitives.collectives import all_gather_p, all_to_all_p, ppermute_p
from ..primitives.discrete import reduce_precision_p
from ..primitives.gather import window_sizes
from ..primitives.indexing import GatherScatterMode
from ..primitives.reductions import cummax_p, cummin_p, reduce_max_p, reduce_min_p
from ..primitives.sorting import approx_top_k_p, sort_p, top_k_p
from ..primitives.taken import taken_p

_nan_of_div = check_nan("div")


@check_rules.register(a.div_p)
def _div_checks(report: Report, args: Sequence[Any], outs: Sequence[Any], /, **params: Any) -> None:
    if report.wants(DivisionByZeroError):
        divisor: Any = args[1]
        aval: Any = typeof(divisor)
        zero = eq(divisor, aval.dtype.type(0))
        report(DivisionByZeroError, reduce_or(zero, range(len(aval.shape))), "division by zero")
    _nan_of_div(report, args, outs)


@check_rules.register(s.dynamic_slice_p)
def _dynamic_slice_checks(
    report: Report, args: Sequence[Any], outs: Sequence[Any], /, *, slice_sizes: Any
) -> None:
    operand, *starts = args
    _check_starts(report, operand, starts, slice_sizes)


@check_rules.register(s.dynamic_update_slice_p)
def _dynamic_update_slice_checks(
    report: Report, args: Sequence[Any], outs: Sequence[Any], /, **params: Any
) -> None:
    operand, update, *starts = args
    _check_starts(report, operand, starts, _shape(update))


@check_rules.register(g.gather_p)
def _gather_checks(
    report: Report, args: Sequence[Any], outs: Sequence[Any], /, **params: Any
) -> None:
    operand, indices = args
    if params["mode"] is not GatherScatterMode.CLIP:
        axes = params["dimension_numbers"].start_index_map
        _check_indices(report, _shape(operand), indices, axes, params["slice_sizes"])


def _scatter_checks(
    report: Report, args: Sequence[Any], outs: Sequence[Any], /, **params: Any
) -> None:
    operand, indices, updates = args
    dn = params["dimension_numbers"]
    if params["mode"] is not GatherScatterMode.CLIP:
        sizes = window_sizes(_shape(operand), _shape(updates), dn)
        axes = dn.scatter_dims_to_operand_dims
        _check_indices(report, _shape(operand), indices, axes, sizes)


for _primitive in (
    g.scatter_add_p, g.scatter_apply_p, g.scatter_max_p, g.scatter_min_p, g.scatter_mul_p,
    g.scatter_p, g.scatter_sub_p,
):  # fmt: skip
    check_rules.set(_primitive, _scatter_checks)


def _check_starts(
    report: Report, operand: Any, starts: Sequence[Any], sizes: Sequence[int]
) -> None:
    if starts and report.wants(OOBError):
        vector = concatenate([reshape(_signed(i), (1,)) for i in starts], 0)
        _check_indices(report, _shape(operand), vector, range(len(starts)), sizes)


def _check_indices(
    report: Report, shape: Sequence[int], indices: Any, axes: Sequence[int], sizes: Sequence[int]
) -> None:
    """Report the first index of which a window of some size is not all inside of an array.

    Args:
        indices: the last axis has the components of an index, which are along ``axes``.
    """
    result = _shape(indices)
    if not report.wants(OOBError) or not prod(result):
        return
    count = prod(result[:-1])
    starts = reshape(_signed(indices), (count, len(axes)))
    dtype = typeof(starts).dtype  # type: ignore[attr-defined]
    last = np.tile(np.array([shape[d] - sizes[d] for d in axes], dtype), (count, 1))
    outside = reshape(
        bitwise_or(lt(starts, np.zeros_like(last)), gt(starts, last)), (count * len(axes),)
    )
    at = reshape(argmax(outside, 0, np.int32), (1,))
    message = (
        f"out-of-bounds indexing for array of shape {tuple(shape)}: index {{}} is out of bounds "
        "for axis {} with size {}"
    )
    axis = np.tile(np.array(axes, np.int32), count)
    size = np.array(shape, np.int32)[axis]
    about = [
        _element(reshape(starts, (count * len(axes),)), at),
        _element(axis, at),
        _element(size, at),
    ]
    report(OOBError, reduce_or(outside, (0,)), message, *about)


def _element(x: Any, at: Any) -> Any:
    return reshape(s.dynamic_slice_p.bind(x, reshape(at, ()), slice_sizes=(1,)), ())


def _signed(index: Any) -> Any:
    """An index as a number that negative ones and sizes of axes can be compared with."""
    aval: Any = typeof(index)
    wide = aval.dtype.itemsize == 8
    return convert_element_type(index, np.int64 if wide else np.int32)


def _shape(x: Any) -> tuple[int, ...]:
    return typeof(x).shape  # type: ignore[attr-defined]


def _nothing(report: Report, args: Sequence[Any], outs: Sequence[Any], /, **params: Any) -> None:
    """A nan among the results is one of the operands: they are moved, chosen, or of other form."""


for _primitive in (
    a.abs_p, all_gather_p, all_to_all_p, approx_top_k_p, v.bitcast_convert_type_p,
    s.broadcast_in_dim_p, v.clamp_p, v.complex_p, s.concatenate_p, v.conj_p,
    v.convert_element_type_p, v.copy_p, cummax_p, cummin_p, v.imag_p, a.max_p, a.min_p, a.neg_p,
    v.optimization_barrier_p, s.pad_p, ppermute_p, v.real_p, reduce_max_p, reduce_min_p,
    reduce_precision_p, s.reshape_p, s.rev_p, v.select_n_p, s.slice_p, sort_p, s.split_p,
    s.squeeze_p, s.stack_p, v.stop_gradient_p, taken_p, s.tile_p, top_k_p, s.transpose_p,
    s.unstack_p,
):  # fmt: skip
    check_rules.set(_primitive, _nothing)
