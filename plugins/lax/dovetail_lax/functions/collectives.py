"""Collective operations over named axes (``vmap(..., axis_name=...)``, ``shard_map``).

Several names are one axis, of which the last name varies fastest. Names may be those of axes that
are mapped and of axes of a mesh, together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_core import Primitive, axis_size_of, is_inexact, typeof
from dovetail_core.base import arguments
from dovetail_core.base.foreign import names_itself
from dovetail_core.dispatch.axes import manual_axes
from dovetail_core.tree.util import tree_map
from dovetail_core.types.roles import Unreduced

from ..primitives._elementwise import place
from ..primitives.arithmetic import div_p
from ..primitives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    axis_index_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_p,
    reduce_scatter_p,
    sum_over,
    vary_over,
)
from ..primitives.discrete import eq_p
from ..primitives.moves import full, moved, reshaped, spread
from ..primitives.ragged_collectives import ragged_all_to_all_p
from ..primitives.values import select_n_p
from ._args import beside, check, operands
from ._shapes import axis_in
from .arithmetic import mul
from .reductions import reduce_max, reduce_min, reduce_sum
from .values import convert_element_type

Names = Hashable | Sequence[Hashable]

_REDUCTIONS = {"pmax": reduce_max, "pmin": reduce_min}


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


def _each(axis_name: Names) -> list[dict[str, Any]]:
    """Parameters for each named axis alone."""
    found = named_axes(axis_name)
    return [
        {"axes": (name,), "axis_sizes": (size,)} for name, size in zip(*found.values(), strict=True)
    ]


def _apart(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Parameters for the names that are mapped, and for those that are axes of a mesh: what of
    them there is."""
    manual = manual_axes()
    pairs = list(zip(*params.values(), strict=True))
    groups = [[p for p in pairs if p[0] not in manual], [p for p in pairs if p[0] in manual]]
    return [
        {"axes": tuple(a for a, _ in g), "axis_sizes": tuple(n for _, n in g)} for g in groups if g
    ]


def varied_over(v: Any, axes: Sequence[Any]) -> Any:
    """``v``, varying over those of the axes that are a mesh's."""
    manual = manual_axes()
    return vary_over(v, [a for a in axes if a in manual]) if manual else v


def _summed(v: Any, params: dict[str, Any]) -> Any:
    """The sum over all named axes."""
    if "groups" in params:
        return psum_p.bind(varied_over(v, params["axes"]), **params)
    for part in _apart(params):
        if manual_axes().get(part["axes"][0]) and all(map(manual_axes().get, part["axes"])):
            v = sum_over(v, part["axes"])
        else:
            v = psum_p.bind(varied_over(v, part["axes"]), **part)
    return v


def _grouped(what: str, axis_name: Names, groups: Any) -> dict[str, Any]:
    """Parameters for the named axes, of which groups of positions are axes of their own.

    Raises:
        NotImplementedError: there are groups, and the axis is mapped, or it is none alone.
        ValueError: the groups have several lengths, or do not have each position once.
    """
    params = named_axes(axis_name)
    if groups is None:
        return params
    found = tuple([tuple([int(i) for i in g]) for g in groups])
    size, alone = prod(params["axis_sizes"]), len(params["axes"]) == 1
    mapped = not alone or params["axes"][0] not in manual_axes()
    partition = sorted(i for g in found for i in g) == list(range(size))
    if alone and not (partition and (mapped or len(set(map(len, found))) == 1)):
        raise ValueError(
            f"{what}: axis_index_groups must be groups of one length that have each of the {size} "
            f"positions once, got {groups!r}{place()}"
        )
    if mapped:
        raise NotImplementedError(
            f"{what}: axis_index_groups is not supported under vmap, nor over several axes"
            f"{place()}. Give the name of one axis of a mesh, within shard_map."
        )
    return {"axes": params["axes"], "axis_sizes": (len(found[0]),), "groups": found}


def _split(axis_name: Names) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Parameters for the named axes, and the axes of the array itself that are given as numbers."""
    given: Any = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    own = tuple([n for n in given if isinstance(n, int)])
    return named_axes([n for n in given if not isinstance(n, int)]), own


def _over(what: str, primitive: Primitive, x: Any, axis_name: Names, groups: Any) -> Any:
    params, own = _split(axis_name)
    parts = _apart(params) if groups is None else [_grouped(what, axis_name, groups)]

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
    params, own = _split(axis_name)
    if axis_index_groups is not None:
        params = _grouped("psum", axis_name, axis_index_groups)
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
    params, own = _split(axis_name)
    if axis_index_groups is not None:
        params = _grouped("pmean", axis_name, axis_index_groups)
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


@names_itself
def ppermute(x: Any, axis_name: Names, perm: Sequence[tuple[int, int]]) -> Any:
    """Send every leaf of ``x`` from sources to destinations along the named axis.

    Args:
        perm: pairs (source, destination); positions that nothing is sent to receive zeros.

    Raises:
        ValueError: a source or destination occurs twice or is out of range.
    """
    pairs = tuple((int(s), int(d)) for s, d in perm)
    n = axis_size(axis_name)
    for role, positions in (
        ("source", [s for s, _ in pairs]),
        ("destination", [d for _, d in pairs]),
    ):
        if len(set(positions)) != len(positions):
            raise ValueError(f"ppermute: perm names a {role} twice: {list(pairs)}")
        if any(not 0 <= p < n for p in positions):
            raise ValueError(f"ppermute: perm has a {role} outside of 0..{n - 1}: {list(pairs)}")
    params = named_axes(axis_name)
    if len(params["axes"]) == 1:
        return tree_map(
            lambda v: ppermute_p.bind(varied_over(v, params["axes"]), **params, perm=pairs), x
        )
    sources = np.full(n, n, np.int32)
    for source, destination in pairs:
        sources[destination] = source
    return tree_map(lambda v: _received(v, axis_name, sources), x)


def _received(v: Any, axis_name: Names, sources: Any) -> Any:
    """The value at the position that ``sources`` has for this one; zeros for one behind all."""
    from .dynamic_slicing import dynamic_index_in_dim
    from .joining import pad

    everyone = all_gather(v, axis_name)
    everyone = pad(
        everyone, everyone.dtype.type(0), [(0, 1, 0), *[(0, 0, 0)] * (everyone.ndim - 1)]
    )
    at = dynamic_index_in_dim(sources, axis_index(axis_name), 0, keepdims=False)
    return dynamic_index_in_dim(everyone, at, 0, keepdims=False)


@names_itself
def pshuffle(x: Any, axis_name: Names, perm: Sequence[int]) -> Any:
    """Permute positions along the named axis: position ``i`` receives from ``perm[i]``."""
    if sorted(perm) != list(range(axis_size(axis_name))):
        raise ValueError(f"pshuffle: perm must be a permutation of the axis, got {list(perm)}")
    return ppermute(x, axis_name, [(s, d) for d, s in enumerate(perm)])


@names_itself
def all_gather(
    x: Any,
    axis_name: Names,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """The leaves of ``x`` from all positions of the named axis, stacked along ``axis``.

    Args:
        tiled: concatenate them along an existing axis instead.
        to: how the result varies over the named axis: ``"varying"``, or, of an axis of a mesh,
            ``"invarying"``: known to be equal on all devices, or ``"reduced"``: that, and its
            cotangents are left to be summed.

    Raises:
        ValueError: ``axis`` is out of bounds, ``to`` is none of the three, or ``x`` does not vary
            over the axis, where the result is ``"reduced"``.
        NotImplementedError: ``to`` is ``"reduced"`` or ``"invarying"`` over a mapped axis, or
            ``"reduced"`` with groups.
    """
    _check_to(to, axis_name, axis_index_groups)
    each = _each(axis_name)
    if axis_index_groups is not None:
        each = [_grouped("all_gather", axis_name, axis_index_groups)]
    gather = _GATHERS[to]

    def leaf(v: Any) -> Any:
        (v,) = operands("all_gather", (v,))
        at = axis_in("all_gather", "axis", axis, len(np.shape(v)) + (not tiled))
        if to == "reduced" and not typeof(v).vma.issuperset(named_axes(axis_name)["axes"]):
            raise ValueError(
                f"all_gather{place()}: to='reduced' is for what varies over {axis_name!r}, and a "
                f"leaf is of type {typeof(v).str_short()}. See lax.pcast."
            )
        for params in reversed(each):
            v = gather.bind(varied_over(v, params["axes"]), **params, axis=at)
        return _merged(v, at, len(each) + tiled)

    return tree_map(leaf, x)


_GATHERS = {
    "varying": all_gather_p, "invarying": all_gather_invariant_p, "reduced": all_gather_reduced_p,
}  # fmt: skip


def _check_to(to: str, axis_name: Names, groups: Any) -> None:
    if to not in _GATHERS:
        raise ValueError(
            f"all_gather: to={to!r} is unknown{place()}. It may be 'varying', 'invarying' or "
            "'reduced'."
        )
    manual = all(name in manual_axes() for name in named_axes(axis_name)["axes"])
    if to != "varying" and not manual:
        raise NotImplementedError(
            f"all_gather: to={to!r} is for programs on several devices, and a mapped axis is "
            f"none{place()}. Leave it out."
        )
    if to == "reduced" and groups is not None:
        raise NotImplementedError(
            f"all_gather: to='reduced' is not supported with axis_index_groups{place()}."
        )


def _merged(v: Any, at: int, count: int) -> Any:
    """``count`` axes from ``at`` on as one."""
    if count == 1:
        return v
    shape = v.shape
    return reshaped(v, (*shape[:at], prod(shape[at : at + count]), *shape[at + count :]))


@names_itself
def all_to_all(
    x: Any,
    axis_name: Names,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Scatter ``split_axis`` over the named axis, and collect that axis as ``concat_axis``.

    Without ``tiled`` the length of ``split_axis`` must be that of the named axis, and the axis
    disappears; with it, the split axis is divided and the concatenated one multiplied.

    Raises:
        ValueError: the length of ``split_axis`` does not fit the named axis, or an axis is out of
            bounds.
    """
    each = _each(axis_name)
    if axis_index_groups is not None:
        each = [_grouped("all_to_all", axis_name, axis_index_groups)]

    def leaf(v: Any) -> Any:
        (v,) = operands("all_to_all", (v,))
        split = axis_in("all_to_all", "split_axis", split_axis, len(np.shape(v)))
        concat = axis_in("all_to_all", "concat_axis", concat_axis, len(np.shape(v)))
        n = prod(params["axis_sizes"][0] for params in each)
        _check_parts("all_to_all", v.shape[split], split, axis_name, n, tiled)
        if len(each) == 1 and not tiled:
            v = varied_over(v, each[0]["axes"])
            return all_to_all_p.bind(v, **each[0], split_axis=split, concat_axis=concat)
        return _exchanged(v, each, split, concat, tiled)

    return tree_map(leaf, x)


def _check_parts(what: str, length: int, axis: int, axis_name: Names, n: int, tiled: bool) -> None:
    if length % n or (not tiled and length != n):
        raise ValueError(
            f"{what}: axis {axis} has length {length}, which "
            f"{'is not divisible by' if tiled else 'is not'} the length {n} of {axis_name!r}"
            f"{place()}"
        )


def _exchanged(v: Any, each: list[dict[str, Any]], split: int, concat: int, tiled: bool) -> Any:
    """Parts of an axis exchanged over the named axes one after the other, each at the front."""
    sizes = [params["axis_sizes"][0] for params in each]
    n = prod(sizes)
    rest = [v.shape[split] // n] if tiled else []
    parts = reshaped(v, (*v.shape[:split], n, *rest, *v.shape[split + 1 :]))
    front = moved(parts, split, 0)
    front = reshaped(front, (*sizes, *front.shape[1:]))
    for i, params in enumerate(each):
        front = varied_over(front, params["axes"])
        front = all_to_all_p.bind(front, **params, split_axis=i, concat_axis=i)
    return _merged(moved(_merged(front, 0, len(each)), 0, concat), concat, 1 + tiled)


@names_itself
def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Names,
    axis_index_groups: Any = None,
) -> Any:
    """``output`` with rows that are those of ``operand`` at any position of the named axis.

    Position ``i`` sends ``send_sizes[j]`` rows, from ``input_offsets[j]`` on, to position ``j``,
    which has them from ``output_offsets[j]`` on. With ``k`` times as many numbers as positions each
    gets ``k`` pieces, those of the first position first. On GPUs and TPUs only these rows are sent.

    Args:
        recv_sizes: how many rows come from each position: what ``send_sizes`` says there.

    Raises:
        TypeError: the dtypes of operand and output differ. ValueError: the numbers are no integers
            in one dimension, of one length that is a multiple of the axis's; rows have other
            shapes. NotImplementedError: several axes are named.
    """
    what = "ragged_all_to_all"
    operand, output = operands(what, (operand, output))
    numbers = operands(what, (input_offsets, send_sizes, output_offsets, recv_sizes))
    params = _grouped(what, axis_name, axis_index_groups)
    if len(params["axes"]) != 1:
        raise NotImplementedError(
            f"{what} over the axes {params['axes']}{place()}: one axis is supported. Join them in "
            "the mesh."
        )
    _check_ragged(what, operand, output, numbers, params["axis_sizes"][0])
    args = [varied_over(v, params["axes"]) for v in (operand, output, *numbers)]
    return ragged_all_to_all_p.bind(*args, **params)


def _check_ragged(what: str, operand: Any, output: Any, numbers: Sequence[Any], n: int) -> None:
    a, b = typeof(operand), typeof(output)
    if a.dtype != b.dtype:  # type: ignore[attr-defined]
        raise TypeError(
            f"{what}: operand has type {a.str_short()} and output {b.str_short()}{place()}. "
            "Convert one of them."
        )
    if not a.ndim or a.shape[1:] != b.shape[1:]:  # type: ignore[attr-defined]
        raise ValueError(
            f"{what}: operand has type {a.str_short()} and output {b.str_short()}{place()}: they "
            "are rows of one shape."
        )
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    lengths = {typeof(x).shape for x in numbers}  # type: ignore[attr-defined]
    for name, x in zip(names, numbers):
        aval: Any = typeof(x)
        if aval.dtype.kind not in "iu" or aval.ndim != 1 or not aval.size or aval.size % n:
            raise ValueError(
                f"{what}: {name} has type {aval.str_short()}{place()}; give integers in one "
                f"dimension, as many as the axis has positions, {n}, or a multiple."
            )
    if len(lengths) > 1:
        raise ValueError(
            f"{what}: offsets and sizes have the shapes {sorted(lengths)}{place()}. Give as many "
            "of each."
        )


@names_itself
def psum_scatter(
    x: Any,
    axis_name: Names,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """The sum over the named axis, of which each position keeps its part of an axis.

    Raises:
        ValueError: the length of that axis does not fit the named one, or it is out of bounds.
    """
    each = _each(axis_name)
    if axis_index_groups is not None:
        each = [_grouped("psum_scatter", axis_name, axis_index_groups)]

    def leaf(v: Any) -> Any:
        (v,) = operands("psum_scatter", (v,))
        shape = np.shape(v)
        dim = axis_in("psum_scatter", "scatter_dimension", scatter_dimension, len(shape))
        sizes = [params["axis_sizes"][0] for params in each]
        n = prod(sizes)
        _check_parts("psum_scatter", shape[dim], dim, axis_name, n, tiled)
        rest = [shape[dim] // n] if tiled else []
        v = reshaped(v, (*shape[:dim], *sizes, *rest, *shape[dim + 1 :]))
        for params in each:
            is_sum = Unreduced(params["axes"][0]) in typeof(v).vma
            ready = v if is_sum and not axis_index_groups else varied_over(v, params["axes"])
            v = reduce_scatter_p.bind(ready, **params, axis=dim)
        return v

    return tree_map(leaf, x)


@names_itself
def pswapaxes(x: Any, axis_name: Names, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange the named axis with an array axis."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)
