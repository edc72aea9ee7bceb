"""Sums, means and extremes over named axes (``vmap(..., axis_name=...)``, ``shard_map``), and where
along them an instance is.

Several names are one axis, of which the last name varies fastest. Names may be those of axes that
are mapped and of axes of a mesh, together.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dovetail_base.foreign import names_itself
from dovetail_core import Primitive, axis_names, is_inexact, typeof
from dovetail_tree.util import tree_map

from ..primitives._elementwise import place
from ..primitives.arithmetic import div_p
from ..primitives.collectives import (
    axis_index_p,
    pmax_p,
    pmin_p,
    psum_p,
    sum_over,
)
from ..primitives.discrete import eq_p
from ..primitives.moves import full, spread
from ..primitives.values import select_n_p
from ._args import beside, check, operands
from ._named_axes import Names, apart, grouped, named_axes, split_names, varied_over
from .arithmetic import mul
from .reductions import reduce_max, reduce_min, reduce_sum
from .values import convert_element_type

_REDUCTIONS = {"pmax": reduce_max, "pmin": reduce_min}


def _summed(v: Any, params: dict[str, Any]) -> Any:
    """The sum over all named axes."""
    if "groups" in params:
        return psum_p.bind(varied_over(v, params["axes"]), **params)
    for part in apart(params):
        if axis_names.manual_axes().get(part["axes"][0]) and all(
            map(axis_names.manual_axes().get, part["axes"])
        ):
            v = sum_over(v, part["axes"])
        else:
            v = psum_p.bind(varied_over(v, part["axes"]), **part)
    return v


def _over(what: str, primitive: Primitive, x: Any, axis_name: Names, groups: Any) -> Any:
    params, own = split_names(axis_name)
    parts = apart(params) if groups is None else [grouped(what, axis_name, groups)]

    def leaf(v: Any) -> Any:
        v = operands(what, (v,))[0]
        v = _REDUCTIONS[what](v, own) if own else v
        for part in parts:
            v = primitive.bind(varied_over(v, part["axes"]), **part)
        return v

    return tree_map(leaf, x)


@names_itself
def psum(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The sum of every leaf of ``x`` over the named axis or axes.

    Numbers among the names are axes of the leaves themselves; no names leave them as they are. A
    Python number gives its product with the length of the axis, as a Python number.

    Raises:
        NameError: no such axis is in scope.
    """
    params, own = split_names(axis_name)
    if axis_index_groups is not None:
        params = grouped("psum", axis_name, axis_index_groups)
    size = prod(params["axis_sizes"])

    def leaf(v: Any) -> Any:
        if isinstance(v, (int, float, complex)) and not isinstance(v, bool):
            return v * size
        if typeof(v).dtype == np.bool_:  # type: ignore[attr-defined]
            v = convert_element_type(v, np.int32)
        v = reduce_sum(v, own) if own else v
        return _summed(v, params)

    return tree_map(leaf, x)


@names_itself
def pmean(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The mean of every leaf of ``x`` over the named axis or axes (see :func:`psum`).

    Means of integers and booleans are floating-point numbers.
    """
    total = psum(x, axis_name, axis_index_groups=axis_index_groups)
    params, own = split_names(axis_name)
    if axis_index_groups is not None:
        params = grouped("pmean", axis_name, axis_index_groups)
    size = prod(params["axis_sizes"])

    def leaf(v: Any, given: Any) -> Any:
        n = size * prod([typeof(given).shape[a] for a in own])  # type: ignore[attr-defined]
        if isinstance(v, (int, float, complex)):
            return v / n
        if not is_inexact(v.dtype):
            v = convert_element_type(v, float)
        return div_p.bind(v, beside("pmean", float(n), typeof(v)))  # type: ignore[arg-type]

    return tree_map(leaf, total, x)


@names_itself
def pmax(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The maximum of every leaf of ``x`` over the named axis or axes."""
    return _over("pmax", pmax_p, x, axis_name, axis_index_groups)


@names_itself
def pmin(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The minimum of every leaf of ``x`` over the named axis or axes."""
    return _over("pmin", pmin_p, x, axis_name, axis_index_groups)


@names_itself
def pbroadcast(x: Any, axis_name: Names, source: int) -> Any:
    """Every leaf of ``x`` as the instance at position ``source`` of the named axis has it.

    Raises:
        ValueError: the axis has no such position.
    """
    size = prod(named_axes(axis_name)["axis_sizes"])
    at = source.__index__()
    if not 0 <= at < size:
        raise ValueError(
            f"pbroadcast: source {at} is no position of an axis of length {size}{place()}"
        )
    is_source = eq_p.bind(axis_index(axis_name), np.int32(at))

    def one(v: Any) -> Any:
        aval = check("pbroadcast", v)
        zero = full(aval.shape, 0, aval.dtype)
        return psum(select_n_p.bind(spread(is_source, aval.shape), zero, v), axis_name)

    return tree_map(one, x)


@names_itself
def axis_size(axis_name: Names) -> int:
    """The length of the named axis (the product of several)."""
    return prod(named_axes(axis_name)["axis_sizes"])


@names_itself
def axis_index(axis_name: Names) -> Any:
    """This instance's position along the named axis: an int32 scalar (row-major over several)."""
    params = named_axes(axis_name)
    index: Any = None if params["axes"] else np.int32(0)
    for name, size in zip(params["axes"], params["axis_sizes"]):
        one = varied_over(axis_index_p.bind(axes=(name,), axis_sizes=(size,)), (name,))
        index = one if index is None else mul(index, np.int32(size)) + one
    return index
