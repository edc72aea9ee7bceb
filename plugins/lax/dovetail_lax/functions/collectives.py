"""Public functions of sums, means and extremes over named axes, and of positions along them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import (
    Primitive,
    axis_names,
    axis_size_of,
    here,
    is_inexact,
    manual_axis_types,
    typeof,
)
from dovetail_tree.util import tree_map

from ..primitives.arithmetic import div_p
from ..primitives.collectives import (
    axis_index_p,
    pcast_p,
    pmax_p,
    pmin_p,
    psum_p,
    pvary_p,
    sum_over,
    vary_over,
)
from ..primitives.discrete import eq_p
from ..primitives.moves import full, spread
from ..primitives.values import select_n_p
from .arithmetic import mul
from .operands import beside, check, operands
from .reductions import reduce_max, reduce_min, reduce_sum
from .values import convert_element_type

Names = Hashable | Sequence[Hashable]


def named_axes(axis_name: Names) -> dict[str, Any]:
    """The parameters of a collective over these names.

    Raises:
        NameError: one is not bound. ValueError: one is named twice. TypeError: it is not hashable.
    """
    names: Any = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    for name in names:
        arguments.hashable("axis_name", name)
    if len(set(names)) != len(names):
        raise ValueError(f"a collective names an axis twice: {names!r}{here()}")
    return {"axes": names, "axis_sizes": tuple(axis_size_of(n) for n in names)}


def each_axis(axis_name: Names) -> list[dict[str, Any]]:
    """Parameters for each named axis alone."""
    result = named_axes(axis_name)
    return [
        {"axes": (name,), "axis_sizes": (size,)}
        for name, size in zip(*result.values(), strict=True)
    ]


def split_mapped(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Parameters for the names that are mapped, and for those that are axes of a mesh: what of
    them there is."""
    manual = axis_names.manual_axes()
    pairs = list(zip(*params.values(), strict=True))
    groups = [[p for p in pairs if p[0] not in manual], [p for p in pairs if p[0] in manual]]
    return [
        {"axes": tuple(a for a, _ in g), "axis_sizes": tuple(n for _, n in g)} for g in groups if g
    ]


def varied_over(v: Any, axes: Sequence[Any]) -> Any:
    """``v``, varying over those of the axes that are a mesh's."""
    manual = axis_names.manual_axes()
    return vary_over(v, [a for a in axes if a in manual]) if manual else v


def grouped(what: str, axis_name: Names, groups: Any) -> dict[str, Any]:
    """Parameters for the named axes, of which groups of positions are axes of their own.

    Raises:
        NotImplementedError: there are groups, and the axis is mapped, or it is none alone.
        ValueError: the groups have several lengths, or do not have each position once.
    """
    params = named_axes(axis_name)
    if groups is None:
        return params
    result = tuple([tuple([int(i) for i in g]) for g in groups])
    size, alone = prod(params["axis_sizes"]), len(params["axes"]) == 1
    mapped = not alone or params["axes"][0] not in axis_names.manual_axes()
    partition = sorted(i for g in result for i in g) == list(range(size))
    if alone and not (partition and (mapped or len(set(map(len, result))) == 1)):
        raise ValueError(
            f"{what}: axis_index_groups must be groups of one length that have each of the {size} "
            f"positions once, got {groups!r}{here()}"
        )
    if mapped:
        raise NotImplementedError(
            f"{what}: axis_index_groups is not supported under vmap, nor over several axes"
            f"{here()}. Give the name of one axis of a mesh, within shard_map."
        )
    return {"axes": params["axes"], "axis_sizes": (len(result[0]),), "groups": result}


def split_names(axis_name: Names) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Parameters for the named axes, and the axes of the array itself that are given as numbers."""
    given: Any = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    own = tuple([n for n in given if isinstance(n, int)])
    return named_axes([n for n in given if not isinstance(n, int)]), own


_REDUCTIONS = {"pmax": reduce_max, "pmin": reduce_min}


def _summed(v: Any, params: dict[str, Any]) -> Any:
    """The sum over all named axes."""
    if "groups" in params:
        return psum_p.bind(varied_over(v, params["axes"]), **params)
    for part in split_mapped(params):
        if axis_names.manual_axes().get(part["axes"][0]) and all(
            map(axis_names.manual_axes().get, part["axes"])
        ):
            v = sum_over(v, part["axes"])
        else:
            v = psum_p.bind(varied_over(v, part["axes"]), **part)
    return v


def _over(what: str, primitive: Primitive, x: Any, axis_name: Names, groups: Any) -> Any:
    params, own = split_names(axis_name)
    parts = split_mapped(params) if groups is None else [grouped(what, axis_name, groups)]

    def leaf(v: Any) -> Any:
        v = operands(what, (v,))[0]
        v = _REDUCTIONS[what](v, own) if own else v
        for part in parts:
            v = primitive.bind(varied_over(v, part["axes"]), **part)
        return v

    return tree_map(leaf, x)


@reword_errors
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


@reword_errors
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


@reword_errors
def pmax(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The maximum of every leaf of ``x`` over the named axis or axes."""
    return _over("pmax", pmax_p, x, axis_name, axis_index_groups)


@reword_errors
def pmin(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The minimum of every leaf of ``x`` over the named axis or axes."""
    return _over("pmin", pmin_p, x, axis_name, axis_index_groups)


@reword_errors
def pbroadcast(x: Any, axis_name: Names, source: int) -> Any:
    """Every leaf of ``x`` as the instance at position ``source`` of the named axis has it.

    Raises:
        ValueError: the axis has no such position.
    """
    size = prod(named_axes(axis_name)["axis_sizes"])
    at = source.__index__()
    if not 0 <= at < size:
        raise ValueError(
            f"pbroadcast: source {at} is no position of an axis of length {size}{here()}"
        )
    is_source = eq_p.bind(axis_index(axis_name), np.int32(at))

    def one(v: Any) -> Any:
        aval = check("pbroadcast", v)
        zero = full(aval.shape, 0, aval.dtype)
        return psum(select_n_p.bind(spread(is_source, aval.shape), zero, v), axis_name)

    return tree_map(one, x)


@reword_errors
def axis_size(axis_name: Names) -> int:
    """The length of the named axis (the product of several)."""
    return prod(named_axes(axis_name)["axis_sizes"])


@reword_errors
def axis_index(axis_name: Names) -> Any:
    """This instance's position along the named axis: an int32 scalar (row-major over several)."""
    params = named_axes(axis_name)
    index: Any = None if params["axes"] else np.int32(0)
    for name, size in zip(params["axes"], params["axis_sizes"]):
        one = varied_over(axis_index_p.bind(axes=(name,), axis_sizes=(size,)), (name,))
        index = one if index is None else mul(index, np.int32(size)) + one
    return index


@reword_errors
def pvary(x: Any, axis_name: Names) -> Any:
    """Every leaf of ``x`` as a value that varies over the named axes of a mesh.

    Its value is what it was. Operations do this by themselves where one operand varies and another
    does not; the cotangent of ``x`` is the sum of the cotangents of all devices.

    Raises:
        ValueError: it is a sum that is left to be done along one of them.
    """
    axes = named_axes(axis_name)["axes"]
    return tree_map(lambda v: varied_over(operands("pvary", (v,))[0], axes), x)


@reword_errors
def pcast(x: Any, axis_name: Names, *, to: str) -> Any:
    """Every leaf of ``x`` as a value of which something else is known along the named axes.

    Args:
        to: ``"varying"``: it may differ from device to device (of what is equal on all, or
            reduced). ``"reduced"``: of what is equal on all; its cotangents are left as summands on
            the devices, until somebody sums them. ``"unreduced"``: of what varies; it stands for
            the sum over the devices, which ``psum`` or ``psum_scatter`` makes.

    Nothing is computed, and nothing is exchanged.

    Raises:
        ValueError: ``to`` is none of these, or not what values of that kind can become.
    """
    if to not in ("varying", "reduced", "unreduced"):
        raise ValueError(
            f"pcast: to={to!r} is unknown{here()}. It may be 'varying', 'reduced' or 'unreduced'."
        )
    axes = named_axes(axis_name)["axes"]
    if not axes:
        return tree_map(lambda v: operands("pcast", (v,))[0], x)
    return tree_map(lambda v: _cast(operands("pcast", (v,))[0], axes, to), x)


_CASTS = {
    ("invarying", "varying"), ("reduced", "varying"), ("invarying", "reduced"),
    ("varying", "unreduced"),
}  # fmt: skip


def _cast(v: Any, axes: tuple[Any, ...], to: str) -> Any:
    manual = axis_names.manual_axes()
    checked = all(manual.get(a) for a in axes)
    if not checked and to != "unreduced":  # nothing is known there, or the axis is mapped
        return varied_over(v, axes)
    kinds = {_kind(v, a) for a in axes} if checked else {"unknown"}
    kind = kinds.pop()
    if kinds or (kind, to) not in _CASTS:
        kinds = {kind, *kinds}
        raise ValueError(
            f"pcast: to={to!r} of a value of type {typeof(v).str_short()}{here()}, which is "
            f"{' and '.join(sorted(kinds))} along {', '.join(map(repr, axes))}. What varies can "
            "become 'unreduced', what is invarying 'varying' or 'reduced', and what is reduced "
            "'varying'."
        )
    if to == "reduced":
        return pvary_p.bind(v, axes=tuple(map(manual_axis_types.Reduced, axes)))
    return varied_over(v, axes) if to == "varying" else pcast_p.bind(v, axes=axes, to=to)


def _kind(v: Any, axis: Any) -> str:
    vma = typeof(v).vma
    if axis in vma:
        return "varying"
    if axis in manual_axis_types.unreduced_in(vma):
        return "unreduced"
    return "reduced" if axis in manual_axis_types.reduced_in(vma) else "invarying"
