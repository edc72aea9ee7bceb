"""Collective operations over named axes (``vmap(..., axis_name=...)``)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_core import Primitive, axis_size_of, is_inexact, typeof
from dovetail_core.tree.util import tree_map

from ..primitives.arithmetic import div_p
from ..primitives.collectives import (
    all_gather_p,
    all_to_all_p,
    axis_index_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_p,
)
from ..primitives.moves import moved, reshaped
from ._args import beside, operands
from .arithmetic import mul
from .conversion import convert_element_type
from .reductions import reduce_max, reduce_min, reduce_sum

Names = Hashable | Sequence[Hashable]

_REDUCTIONS = {"pmax": reduce_max, "pmin": reduce_min}


def _axes(axis_name: Names) -> dict[str, Any]:
    names: Any = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    return {"axes": names, "axis_sizes": tuple(axis_size_of(n) for n in names)}


def _one_axis(what: str, axis_name: Names) -> dict[str, Any]:
    found = _axes(axis_name)
    if len(found["axes"]) != 1:
        raise NotImplementedError(f"{what} takes one axis name, got {axis_name!r}")
    return found


def _no_groups(what: str, groups: Any) -> None:
    if groups is not None:
        raise NotImplementedError(f"{what}: axis_index_groups is not supported under vmap")


def _split(axis_name: Names) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Parameters for the named axes, and the axes of the array itself that are given as numbers."""
    given: Any = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    own = tuple([n for n in given if isinstance(n, int)])
    return _axes([n for n in given if not isinstance(n, int)]), own


def _over(what: str, primitive: Primitive, x: Any, axis_name: Names, groups: Any) -> Any:
    _no_groups(what, groups)
    params, own = _split(axis_name)

    def leaf(v: Any) -> Any:
        v = operands(what, (v,))[0]
        v = _REDUCTIONS[what](v, own) if own else v
        return primitive.bind(v, **params) if params["axes"] else v

    return tree_map(leaf, x)


def psum(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The sum of every leaf of ``x`` over the named axis or axes.

    Numbers among the names are axes of the leaves themselves; no names leave them as they are. A
    Python number gives its product with the length of the axis, as a Python number.

    Raises:
        NameError: no such axis is in scope.
    """
    _no_groups("psum", axis_index_groups)
    params, own = _split(axis_name)
    size = prod(params["axis_sizes"])

    def leaf(v: Any) -> Any:
        if isinstance(v, (int, float, complex)):
            return v * size
        if typeof(v).dtype == np.bool_:  # type: ignore[attr-defined]
            v = convert_element_type(v, np.int32)
        v = reduce_sum(v, own) if own else v
        return psum_p.bind(v, **params) if params["axes"] else v

    return tree_map(leaf, x)


def pmean(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The mean of every leaf of ``x`` over the named axis or axes (see :func:`psum`).

    Means of integers and booleans are floating-point numbers.
    """
    total = psum(x, axis_name, axis_index_groups=axis_index_groups)
    params, own = _split(axis_name)
    size = prod(params["axis_sizes"])

    def leaf(v: Any, given: Any) -> Any:
        n = size * prod([typeof(given).shape[a] for a in own])  # type: ignore[attr-defined]
        if isinstance(v, (int, float, complex)):
            return v / n
        if not is_inexact(v.dtype):
            v = convert_element_type(v, np.float64)
        return div_p.bind(v, beside("pmean", float(n), typeof(v)))  # type: ignore[arg-type]

    return tree_map(leaf, total, x)


def pmax(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The maximum of every leaf of ``x`` over the named axis or axes."""
    return _over("pmax", pmax_p, x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Names, *, axis_index_groups: Any = None) -> Any:
    """The minimum of every leaf of ``x`` over the named axis or axes."""
    return _over("pmin", pmin_p, x, axis_name, axis_index_groups)


def axis_size(axis_name: Names) -> int:
    """The length of the named axis (the product of several)."""
    return prod(_axes(axis_name)["axis_sizes"])


def axis_index(axis_name: Names) -> Any:
    """This instance's position along the named axis: an int32 scalar (row-major over several)."""
    params = _axes(axis_name)
    index: Any = None
    for name, size in zip(params["axes"], params["axis_sizes"]):
        one = axis_index_p.bind(axes=(name,), axis_sizes=(size,))
        index = one if index is None else mul(index, np.int32(size)) + one
    return index


def ppermute(x: Any, axis_name: Names, perm: Sequence[tuple[int, int]]) -> Any:
    """Send every leaf of ``x`` from sources to destinations along the named axis.

    Args:
        perm: pairs (source, destination); positions that nothing is sent to receive zeros.

    Raises:
        ValueError: a source or destination occurs twice or is out of range.
    """
    params = _one_axis("ppermute", axis_name)
    pairs = tuple((int(s), int(d)) for s, d in perm)
    (n,) = params["axis_sizes"]
    for role, positions in (
        ("source", [s for s, _ in pairs]),
        ("destination", [d for _, d in pairs]),
    ):
        if len(set(positions)) != len(positions):
            raise ValueError(f"ppermute: perm names a {role} twice: {list(pairs)}")
        if any(not 0 <= p < n for p in positions):
            raise ValueError(f"ppermute: perm has a {role} outside of 0..{n - 1}: {list(pairs)}")
    return tree_map(lambda v: ppermute_p.bind(v, **params, perm=pairs), x)


def pshuffle(x: Any, axis_name: Names, perm: Sequence[int]) -> Any:
    """Permute positions along the named axis: position ``i`` receives from ``perm[i]``."""
    if sorted(perm) != list(range(axis_size(axis_name))):
        raise ValueError(f"pshuffle: perm must be a permutation of the axis, got {list(perm)}")
    return ppermute(x, axis_name, [(s, d) for d, s in enumerate(perm)])


def all_gather(
    x: Any, axis_name: Names, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False
) -> Any:
    """The leaves of ``x`` from all positions of the named axis, stacked along ``axis``.

    With ``tiled`` they are concatenated along an existing axis instead.
    """
    _no_groups("all_gather", axis_index_groups)
    params = _one_axis("all_gather", axis_name)

    def leaf(v: Any) -> Any:
        (v,) = operands("all_gather", (v,))
        at = axis % (len(v.shape) + (not tiled))
        out = all_gather_p.bind(v, **params, axis=at)
        if not tiled:
            return out
        shape = out.shape
        return reshaped(out, (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]))

    return tree_map(leaf, x)


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
        ValueError: the length of ``split_axis`` does not fit the named axis.
    """
    _no_groups("all_to_all", axis_index_groups)
    params = _one_axis("all_to_all", axis_name)
    (n,) = params["axis_sizes"]

    def leaf(v: Any) -> Any:
        ndim = len(v.shape)
        split, concat = split_axis % ndim, concat_axis % ndim
        if v.shape[split] % n or (not tiled and v.shape[split] != n):
            raise ValueError(
                f"all_to_all: axis {split} has length {v.shape[split]}, which "
                f"{'is not divisible by' if tiled else 'is not'} the length {n} of {axis_name!r}"
            )
        if not tiled:
            return all_to_all_p.bind(v, **params, split_axis=split, concat_axis=concat)
        return _tiled(v, params, n, split, concat)

    return tree_map(leaf, x)


def _tiled(v: Any, params: dict[str, Any], n: int, split: int, concat: int) -> Any:
    parts = reshaped(v, (*v.shape[:split], n, v.shape[split] // n, *v.shape[split + 1 :]))
    front = moved(parts, split, 0)
    out = all_to_all_p.bind(front, **params, split_axis=0, concat_axis=0)
    out = moved(out, 0, concat)
    shape = out.shape
    return reshaped(out, (*shape[:concat], n * shape[concat + 1], *shape[concat + 2 :]))


def psum_scatter(
    x: Any,
    axis_name: Names,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """The sum over the named axis, of which each position keeps its part of an axis."""
    _no_groups("psum_scatter", axis_index_groups)

    def leaf(v: Any) -> Any:
        from .dynamic_slicing import dynamic_index_in_dim, dynamic_slice_in_dim

        (n,) = _one_axis("psum_scatter", axis_name)["axis_sizes"]
        dim = scatter_dimension % len(v.shape)
        total, at = psum(v, axis_name), axis_index(axis_name)
        if not tiled:
            return dynamic_index_in_dim(total, at, dim, keepdims=False)
        part = v.shape[dim] // n
        return dynamic_slice_in_dim(total, mul(at, np.int32(part)), part, dim)

    return tree_map(leaf, x)


def pswapaxes(x: Any, axis_name: Names, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange the named axis with an array axis."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)
