"""Primitives across a named axis: sums, gathers, exchanges, and one's own index.

Every primitive has ``axes`` (the names it is about) and, if names may be mapped, ``axis_sizes``. A
transformation that binds one of the names (``vmap`` with ``axis_name``) removes it. Where the names
are axes of a mesh, the type of a value has those along which it varies (``vma``): sums and gathers
exist with results that vary along the axis and with results that do not (``..._invariant``). These
differ in their derivatives: a value that does not vary has one cotangent, the sum over the devices.
For values that are unreduced along an axis, or whose cotangents are, the ``axes`` are roles
(``Unreduced("x")``, ``Reduced("x")``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dovetail_base.source import here
from dovetail_core import Primitive, ShapedArray, manual_axis_types, typeof

from ..scalars import scalar
from .arithmetic import div_p
from .traits import describe

Groups = tuple[tuple[int, ...], ...]
"""Positions along an axis of a mesh: each group of them is an axis of its own, whose length is the
one of ``axis_sizes``. They are a parameter, ``groups``, where there are some."""


def _same(
    x: Any, *, axes: tuple[Any, ...], axis_sizes: tuple[int, ...], groups: Groups = ()
) -> Any:
    return x.strong()


psum_p = Primitive("psum")
pmax_p = Primitive("pmax")
pmin_p = Primitive("pmin")
psum_invariant_p = Primitive("psum_invariant")
pvary_p = Primitive("pvary")
for _p in (psum_p, pmax_p, pmin_p):
    _p.def_abstract_eval(_same)


@psum_invariant_p.def_abstract_eval
def _psum_invariant(x: Any, *, axes: tuple[Any, ...]) -> Any:
    return x.strong()


@pvary_p.def_abstract_eval
def _pvary(x: Any, *, axes: tuple[Any, ...]) -> Any:
    return x


pcast_p = Primitive("pcast")
"""A conversion along ``axes``: of a value that varies to a summand (``to="unreduced"``); of a
reduced value to one that varies (``"varying"``), or that is equal for derivatives as well
(``"invarying"``); and of summands to the values that each device has (``"varying"``)."""


@pcast_p.def_abstract_eval
def _pcast(x: Any, *, axes: tuple[Any, ...], to: str) -> Any:
    return x


def _less(varies: frozenset[Any], params: dict[str, Any]) -> frozenset[Any]:
    return varies if params.get("groups") else varies.difference(params["axes"])


def _more(varies: frozenset[Any], params: dict[str, Any]) -> frozenset[Any]:
    return varies.union(params["axes"])


def _cast(varies: frozenset[Any], params: dict[str, Any]) -> frozenset[Any]:
    axes, to = params["axes"], params["to"]
    if to == "unreduced":
        return varies.difference(axes).union(map(manual_axis_types.Unreduced, axes))
    known = varies.difference(
        map(manual_axis_types.Reduced, axes), map(manual_axis_types.Unreduced, axes)
    )
    return known.union(axes if to == "varying" else ())


for _p in (pmax_p, pmin_p, psum_invariant_p):
    _p.def_traits(varies=_less)
pvary_p.def_traits(varies=_more, moves=True)
pcast_p.def_traits(varies=_cast, moves=True)


def vary_over(x: Any, axes: Iterable[Any]) -> Any:
    """``x`` as a value that varies over these axes of a mesh, too; as it is where it does.

    Raises:
        ValueError: it is a sum that is left to be done along one of them, or should be.
    """
    now = typeof(x).vma
    more = tuple([a for a in axes if a not in now])
    if not more:
        return x
    if manual_axis_types.has_roles(now) or manual_axis_types.has_roles(frozenset(more)):
        x, more = _ready_to_vary(x, now, more)
    return pvary_p.bind(x, axes=more) if more else x


def _ready_to_vary(x: Any, now: frozenset[Any], more: tuple[Any, ...]) -> tuple[Any, Any]:
    """``x`` without roles along these axes, and those over which it is to vary still."""
    sums = manual_axis_types.unreduced_in(now)
    if wrong := [*manual_axis_types.unreduced_in(frozenset(more)), *(a for a in more if a in sums)]:
        raise ValueError(
            f"a value of type {typeof(x).str_short()}{here()} is to be one, along {wrong[0]!r}, "
            "with others that are, or are not, sums left to be done. Sum it (lax.psum), or make "
            "it a summand like the others: lax.pcast(x, axis, to='unreduced')."
        )
    varying, known = manual_axis_types.varying_in(now), manual_axis_types.reduced_in(now)
    if known := tuple(a for a in more if a in known):
        x = pcast_p.bind(x, axes=known, to="varying")
    roles = [manual_axis_types.Reduced(a) for a in varying]
    return x, tuple(a for a in more if a not in known and a not in roles)


def sum_over(x: Any, axes: Iterable[Any]) -> Any:
    """The sum over axes of a mesh: equal on all devices along these."""
    axes = tuple(axes)
    if axes and manual_axis_types.has_roles(now := typeof(x).vma):
        axes = tuple(
            [
                manual_axis_types.Unreduced(a) if manual_axis_types.Unreduced(a) in now else a
                for a in axes
            ]
        )
        over = [a for a in axes if a not in now]
        return psum_invariant_p.bind(vary_over(x, over) if over else x, axes=axes)
    return psum_invariant_p.bind(vary_over(x, axes), axes=axes) if axes else x


axis_index_p = Primitive("axis_index")


@axis_index_p.def_abstract_eval
def _axis_index(*, axes: tuple[Any, ...], axis_sizes: tuple[int, ...]) -> Any:
    return ShapedArray((), np.int32)


ppermute_p = Primitive("ppermute")


@ppermute_p.def_abstract_eval
def _ppermute(
    x: Any, *, axes: tuple[Any, ...], axis_sizes: tuple[int, ...], perm: tuple[tuple[int, int], ...]
) -> Any:
    return x


all_gather_p = Primitive("all_gather")


@all_gather_p.def_abstract_eval
def _all_gather(
    x: Any, *, axes: Any, axis_sizes: tuple[int, ...], axis: int, groups: Groups = ()
) -> Any:
    return x.update(shape=(*x.shape[:axis], axis_sizes[0], *x.shape[axis:]))


all_gather_invariant_p = Primitive("all_gather_invariant").def_traits(varies=_less)
all_gather_invariant_p.def_abstract_eval(_all_gather)
all_gather_reduced_p = Primitive("all_gather_reduced").def_traits(
    varies=lambda varies, params: _less(varies, params).union(
        map(manual_axis_types.Reduced, params["axes"])
    )
)
all_gather_reduced_p.def_abstract_eval(_all_gather)


def _scattered(varies: frozenset[Any], params: dict[str, Any]) -> frozenset[Any]:
    axes = params["axes"]
    sums = varies.intersection(map(manual_axis_types.Unreduced, axes))
    return varies.difference(sums).union(axes) if sums else varies


reduce_scatter_p = Primitive("reduce_scatter").def_traits(varies=_scattered)


@reduce_scatter_p.def_abstract_eval
def _reduce_scatter(
    x: Any, *, axes: Any, axis_sizes: tuple[int, ...], axis: int, groups: Groups = ()
) -> Any:
    return x.update(shape=(*x.shape[:axis], *x.shape[axis + 1 :]), weak_type=False)


all_to_all_p = Primitive("all_to_all")


@all_to_all_p.def_abstract_eval
def _all_to_all(
    x: Any,
    *,
    axes: Any,
    axis_sizes: tuple[int, ...],
    split_axis: int,
    concat_axis: int,
    groups: Groups = (),
) -> Any:
    rest = [d for i, d in enumerate(x.shape) if i != split_axis]
    rest.insert(concat_axis, axis_sizes[0])
    return x.update(shape=tuple(rest))


for _p in (
    psum_p, psum_invariant_p, pmax_p, pmin_p, ppermute_p, all_gather_p, all_gather_invariant_p,
    all_gather_reduced_p, reduce_scatter_p, all_to_all_p,
):  # fmt: skip
    _p.def_traits(meets=lambda params: manual_axis_types.axes_of(params["axes"]))
for _p in (
    psum_p, pmax_p, pmin_p, axis_index_p, ppermute_p, all_gather_p, all_gather_invariant_p,
    all_gather_reduced_p, reduce_scatter_p, all_to_all_p,
):  # fmt: skip
    _p.def_traits(names_axes=lambda params: params["axes"])
for _p in (
    psum_p, psum_invariant_p, pvary_p, ppermute_p, all_gather_p, all_gather_invariant_p,
    all_gather_reduced_p, reduce_scatter_p, all_to_all_p,
):  # fmt: skip
    _p.def_traits(linear=((0,),))


def with_roles(x: Any, vma: frozenset[Any]) -> Any:
    """The value ``x`` converted to the axes ``vma``.

    It is summed over the axes over which it varies, or is a sum, if the result does not. A value
    that is equal on all devices, and is to be a sum, is divided equally among them.
    """
    now = typeof(x).vma
    if now == vma:
        return x
    axes = sorted({manual_axis_types.axis_of(r) for r in now | vma}, key=str)
    summed = [a for a in axes if _is_summed(a, now, vma)]
    if summed:
        x = sum_over(x, summed)
        now = typeof(x).vma
    for a in axes:
        x = _cast_along(x, a, now, vma)
    return x


def _is_summed(axis: Any, now: frozenset[Any], vma: frozenset[Any]) -> bool:
    if manual_axis_types.Unreduced(axis) in now:
        return manual_axis_types.Unreduced(axis) not in vma
    return axis in now and axis not in vma and manual_axis_types.Unreduced(axis) not in vma


def _cast_along(x: Any, axis: Any, now: frozenset[Any], vma: frozenset[Any]) -> Any:
    """``x`` with another role along one axis, where no sum is needed for it."""
    if manual_axis_types.Unreduced(axis) in vma and manual_axis_types.Unreduced(axis) not in now:
        return pcast_p.bind(x if axis in now else _shared(x, axis), axes=(axis,), to="unreduced")
    if manual_axis_types.Reduced(axis) in now and manual_axis_types.Reduced(axis) not in vma:
        return pcast_p.bind(x, axes=(axis,), to="varying" if axis in vma else "invarying")
    if manual_axis_types.Reduced(axis) in vma and manual_axis_types.Reduced(axis) not in now:
        return pvary_p.bind(x, axes=(manual_axis_types.Reduced(axis),))
    return vary_over(x, (axis,)) if axis in vma else x


def _shared(x: Any, axis: Any) -> Any:
    """A value that is equal on all devices along an axis, as a summand for each."""
    count = sum_over(scalar(1, typeof(x).dtype), (axis,))  # type: ignore[attr-defined]
    return div_p.bind(vary_over(x, (axis,)), _like(vary_over(count, (axis,)), x))


def _like(count: Any, x: Any) -> Any:
    from .moves import spread

    return spread(count, typeof(x).shape, ())  # type: ignore[attr-defined]


describe(__name__)
