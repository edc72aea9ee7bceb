"""Values as ones of which something else is said along axes of a mesh, whatever is said now."""

from __future__ import annotations

from typing import Any

from dovetail_core import manual_axis_types, typeof

from ..scalars import scalar
from .arithmetic import div_p
from .collectives import pcast_p, pvary_p, sum_over, vary_over


def with_roles(x: Any, vma: frozenset[Any]) -> Any:
    """The value ``x`` as one of which types say ``vma``.

    It is summed over axes over which it varies, or is a sum, and the new one does not. What is
    equal on all devices, and is to be a sum, is shared out equally.
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
        x = _cast(x, a, now, vma)
    return x


def _is_summed(axis: Any, now: frozenset[Any], vma: frozenset[Any]) -> bool:
    if manual_axis_types.Unreduced(axis) in now:
        return manual_axis_types.Unreduced(axis) not in vma
    return axis in now and axis not in vma and manual_axis_types.Unreduced(axis) not in vma


def _cast(x: Any, axis: Any, now: frozenset[Any], vma: frozenset[Any]) -> Any:
    """``x`` with another role along one axis, where no sum is needed for it."""
    if manual_axis_types.Unreduced(axis) in vma and manual_axis_types.Unreduced(axis) not in now:
        return pcast_p.bind(x if axis in now else _shared(x, axis), axes=(axis,), to="unreduced")
    if manual_axis_types.Reduced(axis) in now and manual_axis_types.Reduced(axis) not in vma:
        return pcast_p.bind(x, axes=(axis,), to="varying" if axis in vma else "invarying")
    if manual_axis_types.Reduced(axis) in vma and manual_axis_types.Reduced(axis) not in now:
        return pvary_p.bind(x, axes=(manual_axis_types.Reduced(axis),))
    return vary_over(x, (axis,)) if axis in vma else x


def _shared(x: Any, axis: Any) -> Any:
    """What is equal on all devices along an axis, as a summand for each."""
    count = sum_over(scalar(1, typeof(x).dtype), (axis,))  # type: ignore[attr-defined]
    return div_p.bind(vary_over(x, (axis,)), _like(vary_over(count, (axis,)), x))


def _like(count: Any, x: Any) -> Any:
    from .moves import spread

    return spread(count, typeof(x).shape, ())  # type: ignore[attr-defined]
