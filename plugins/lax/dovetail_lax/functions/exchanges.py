"""Public functions that exchange values along named axes: permutations, gathers, all-to-all."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_base.foreign import reword_errors
from dovetail_core import axis_names, here, manual_axis_types, typeof
from dovetail_tree.util import tree_map

from ..primitives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_gather_reduced_p,
    all_to_all_p,
    ppermute_p,
    reduce_scatter_p,
)
from ..primitives.moves import moved, reshaped
from ..primitives.ragged_collectives import ragged_all_to_all_p
from .collectives import Names, axis_index, axis_size, each_axis, grouped, named_axes, varied_over
from .operands import axis_in, operands


@reword_errors
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
    """The value at the position that ``sources`` has for this one; zeros for one after all."""
    from .broadcasting import expand_dims
    from .shape import pad
    from .slicing import dynamic_index_in_dim

    is_shared = bool(named_axes(axis_name)["axes"])
    everyone = all_gather(v, axis_name) if is_shared else expand_dims(v, (0,))
    everyone = pad(
        everyone, everyone.dtype.type(0), [(0, 1, 0), *[(0, 0, 0)] * (everyone.ndim - 1)]
    )
    at = dynamic_index_in_dim(sources, axis_index(axis_name), 0, keepdims=False)
    return dynamic_index_in_dim(everyone, at, 0, keepdims=False)


@reword_errors
def pshuffle(x: Any, axis_name: Names, perm: Sequence[int]) -> Any:
    """Permute positions along the named axis: position ``i`` receives from ``perm[i]``."""
    if sorted(perm) != list(range(axis_size(axis_name))):
        raise ValueError(f"pshuffle: perm must be a permutation of the axis, got {list(perm)}")
    return ppermute(x, axis_name, [(s, d) for d, s in enumerate(perm)])


@reword_errors
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
    each = each_axis(axis_name)
    if axis_index_groups is not None:
        each = [grouped("all_gather", axis_name, axis_index_groups)]
    gather = _GATHERS[to]

    def leaf(v: Any) -> Any:
        (v,) = operands("all_gather", (v,))
        if not each:
            return v
        at = axis_in("all_gather", "axis", axis, len(np.shape(v)) + (not tiled))
        if to == "reduced" and not typeof(v).vma.issuperset(named_axes(axis_name)["axes"]):
            raise ValueError(
                f"all_gather{here()}: to='reduced' is for what varies over {axis_name!r}, and a "
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
            f"all_gather: to={to!r} is unknown{here()}. It may be 'varying', 'invarying' or "
            "'reduced'."
        )
    manual = all(name in axis_names.manual_axes() for name in named_axes(axis_name)["axes"])
    if to != "varying" and not manual:
        raise NotImplementedError(
            f"all_gather: to={to!r} is for programs on several devices, and a mapped axis is "
            f"none{here()}. Leave it out."
        )
    if to == "reduced" and groups is not None:
        raise NotImplementedError(
            f"all_gather: to='reduced' is not supported with axis_index_groups{here()}."
        )


def _merged(v: Any, at: int, count: int) -> Any:
    """``count`` axes from ``at`` on as one."""
    if count == 1:
        return v
    shape = v.shape
    return reshaped(v, (*shape[:at], prod(shape[at : at + count]), *shape[at + count :]))


@reword_errors
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
    each = each_axis(axis_name)
    if axis_index_groups is not None:
        each = [grouped("all_to_all", axis_name, axis_index_groups)]

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
            f"{here()}"
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


@reword_errors
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
        recv_sizes: how many rows come from each position: its ``send_sizes`` for this one.

    Raises:
        TypeError: the dtypes of operand and output differ. ValueError: the numbers are no integers
            in one dimension, of one length that is a multiple of the axis's; rows have other
            shapes. NotImplementedError: several axes are named.
    """
    what = "ragged_all_to_all"
    operand, output = operands(what, (operand, output))
    numbers = operands(what, (input_offsets, send_sizes, output_offsets, recv_sizes))
    params = grouped(what, axis_name, axis_index_groups)
    if len(params["axes"]) != 1:
        raise NotImplementedError(
            f"{what} over the axes {params['axes']}{here()}: one axis is supported. Join them in "
            "the mesh."
        )
    _check_ragged(what, operand, output, numbers, params["axis_sizes"][0])
    args = [varied_over(v, params["axes"]) for v in (operand, output, *numbers)]
    return ragged_all_to_all_p.bind(*args, **params)


def _check_ragged(what: str, operand: Any, output: Any, numbers: Sequence[Any], n: int) -> None:
    a, b = typeof(operand), typeof(output)
    if a.dtype != b.dtype:  # type: ignore[attr-defined]
        raise TypeError(
            f"{what}: operand has type {a.str_short()} and output {b.str_short()}{here()}. "
            "Convert one of them."
        )
    if not a.ndim or a.shape[1:] != b.shape[1:]:  # type: ignore[attr-defined]
        raise ValueError(
            f"{what}: operand has type {a.str_short()} and output {b.str_short()}{here()}: they "
            "are rows of one shape."
        )
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    lengths = {typeof(x).shape for x in numbers}  # type: ignore[attr-defined]
    for name, x in zip(names, numbers):
        aval: Any = typeof(x)
        if aval.dtype.kind not in "iu" or aval.ndim != 1 or not aval.size or aval.size % n:
            raise ValueError(
                f"{what}: {name} has type {aval.str_short()}{here()}; give integers in one "
                f"dimension, as many as the axis has positions, {n}, or a multiple."
            )
    if len(lengths) > 1:
        raise ValueError(
            f"{what}: offsets and sizes have the shapes {sorted(lengths)}{here()}. Give as many "
            "of each."
        )


@reword_errors
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
    each = each_axis(axis_name)
    if axis_index_groups is not None:
        each = [grouped("psum_scatter", axis_name, axis_index_groups)]

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
            is_sum = manual_axis_types.Unreduced(params["axes"][0]) in typeof(v).vma
            ready = v if is_sum and not axis_index_groups else varied_over(v, params["axes"])
            v = reduce_scatter_p.bind(ready, **params, axis=dim)
        return v

    return tree_map(leaf, x)


@reword_errors
def pswapaxes(x: Any, axis_name: Names, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange the named axis with an array axis."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)
