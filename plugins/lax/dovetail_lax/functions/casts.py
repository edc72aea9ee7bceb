"""What is known of a value along axes of a mesh, said anew: ``pvary`` and ``pcast``.

Along an axis a value within ``shard_map`` is one of four: *varying*; *invarying*, equal on all
devices; *unreduced*, a sum of which each device has a summand; or *reduced*, equal on all devices,
with cotangents that are such sums.
"""

from __future__ import annotations

from typing import Any

from dovetail_base.foreign import names_itself
from dovetail_core import axis_names, manual_axis_types, typeof
from dovetail_tree.util import tree_map

from ..primitives._elementwise import place
from ..primitives.collectives import pcast_p, pvary_p
from ._args import operands
from ._named_axes import Names, named_axes, varied_over


@names_itself
def pvary(x: Any, axis_name: Names) -> Any:
    """Every leaf of ``x`` as a value that varies over the named axes of a mesh.

    Its value is what it was. Operations do this by themselves where one operand varies and another
    does not; the cotangent of ``x`` is the sum of the cotangents of all devices.

    Raises:
        ValueError: it is a sum that is left to be done along one of them.
    """
    axes = named_axes(axis_name)["axes"]
    return tree_map(lambda v: varied_over(operands("pvary", (v,))[0], axes), x)


@names_itself
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
            f"pcast: to={to!r} is unknown{place()}. It may be 'varying', 'reduced' or 'unreduced'."
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
            f"pcast: to={to!r} of a value of type {typeof(v).str_short()}{place()}, which is "
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
