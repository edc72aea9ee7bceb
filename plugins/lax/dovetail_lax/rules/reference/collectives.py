"""Collectives with NumPy: devices are threads, which wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_backends import gathered_values, position_along, reference_rules
from dovetail_core import Primitive, manual_axis_types

from ...primitives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    axis_index_p,
    pcast_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    pvary_p,
    reduce_scatter_p,
)
from .kinds import rounded, widened

Array = np.ndarray[Any, Any]


def _group(x: Any, axes: Sequence[Any], groups: Any) -> tuple[list[Any], int]:
    """The values of this device's group, and its position among them."""
    values, at = gathered_values(axes, x), position_along(axes)
    for group in groups:
        if at in group:
            return [values[i] for i in group], list(group).index(at)
    return values, at


def _sum(values: Sequence[Array]) -> Array:
    dtype = values[0].dtype
    if dtype == np.bool_:
        return np.logical_or.reduce(values)
    return rounded(np.add.reduce([widened(v) for v in values]), dtype)


def _reduction(primitive: Primitive, join: Callable[[Sequence[Array]], Array]) -> None:
    def rule(x: Array, *, axes: Any, groups: Any = (), **params: Any) -> Array:
        return np.asarray(join(_group(x, manual_axis_types.axes_of(axes), groups)[0]), x.dtype)

    reference_rules.set(primitive, rule)


_reduction(psum_p, _sum)
_reduction(psum_invariant_p, _sum)
_reduction(pmax_p, np.maximum.reduce)
_reduction(pmin_p, np.minimum.reduce)


@reference_rules.register(pvary_p)
@reference_rules.register(pcast_p)
def _as_it_is(x: Array, **params: Any) -> Array:
    return x


@reference_rules.register(axis_index_p)
def _axis_index(*, axes: Any, axis_sizes: Any) -> Array:
    return np.asarray(position_along(axes), np.int32)


@reference_rules.register(ppermute_p)
def _ppermute(x: Array, *, axes: Any, axis_sizes: Any, perm: Any) -> Array:
    values, at = gathered_values(axes, x), position_along(axes)
    sources = [s for s, d in perm if d == at]
    return values[sources[0]] if sources else np.zeros_like(x)


def _gathered(x: Array, *, axes: Any, axis: int, groups: Any = (), **params: Any) -> Array:
    return np.stack(_group(x, axes, groups)[0], axis)


reference_rules.set(all_gather_p, _gathered)
reference_rules.set(all_gather_invariant_p, _gathered)
reference_rules.set(all_gather_reduced_p, _gathered)


@reference_rules.register(reduce_scatter_p)
def _reduce_scatter(x: Array, *, axes: Any, axis_sizes: Any, axis: int, groups: Any = ()) -> Array:
    values, at = _group(x, axes, groups)
    return np.take(_sum(values), at, axis)


@reference_rules.register(all_to_all_p)
def _all_to_all(
    x: Array, *, axes: Any, axis_sizes: Any, split_axis: int, concat_axis: int, groups: Any = ()
) -> Array:
    values, at = _group(x, axes, groups)
    return np.stack([np.take(v, at, split_axis) for v in values], concat_axis)
