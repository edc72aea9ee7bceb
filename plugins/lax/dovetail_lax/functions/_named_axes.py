"""The named axes of a collective: their sizes, and which of them are a mesh's."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

from dovetail_base import arguments
from dovetail_core import axis_names, axis_size_of

from ..primitives._elementwise import place
from ..primitives.collectives import vary_over

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
        raise ValueError(f"a collective names an axis twice: {names!r}{place()}")
    return {"axes": names, "axis_sizes": tuple(axis_size_of(n) for n in names)}


def each_axis(axis_name: Names) -> list[dict[str, Any]]:
    """Parameters for each named axis alone."""
    result = named_axes(axis_name)
    return [
        {"axes": (name,), "axis_sizes": (size,)}
        for name, size in zip(*result.values(), strict=True)
    ]


def apart(params: dict[str, Any]) -> list[dict[str, Any]]:
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
            f"positions once, got {groups!r}{place()}"
        )
    if mapped:
        raise NotImplementedError(
            f"{what}: axis_index_groups is not supported under vmap, nor over several axes"
            f"{place()}. Give the name of one axis of a mesh, within shard_map."
        )
    return {"axes": params["axes"], "axis_sizes": (len(result[0]),), "groups": result}


def split_names(axis_name: Names) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Parameters for the named axes, and the axes of the array itself that are given as numbers."""
    given: Any = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    own = tuple([n for n in given if isinstance(n, int)])
    return named_axes([n for n in given if not isinstance(n, int)]), own
