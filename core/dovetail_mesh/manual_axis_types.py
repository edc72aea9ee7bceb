"""Roles of axes of a mesh, beside "varies", in the types of the parts that devices have.

``ShapedArray.vma`` has the axes over which a part varies, and members of two further kinds: for
axes along which it is a summand of a value, and for axes along which its cotangents are. They are
each other's duals: what an operation does to a value over ``Reduced(a)``, its transpose does to a
cotangent over ``Unreduced(a)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_base.errors import ShardingTypeError
from dovetail_base.source import here

__all__ = (
    "NO_AXES",
    "Reduced",
    "Unreduced",
    "axes_of",
    "axis_of",
    "cotangent_vma",
    "dual",
    "has_roles",
    "reduced_in",
    "unreduced_in",
    "varying_in",
    "vma_of",
)

Axes = frozenset[Any]
NO_AXES: Axes = frozenset()
"""The ``vma`` of values that are no parts."""


@dataclass(frozen=True, slots=True)
class Unreduced:
    """The role of an axis along which devices have summands of the value, not summed yet."""

    axis: Any


@dataclass(frozen=True, slots=True)
class Reduced:
    """The role of an axis along which devices have one value, and summands of its cotangent."""

    axis: Any


def axis_of(role: Any) -> Any:
    """The axis of a member of ``vma``."""
    return role.axis if role.__class__ in _DUAL else role


def axes_of(roles: Iterable[Any]) -> tuple[Any, ...]:
    """The axes of members of ``vma``."""
    return tuple([axis_of(r) for r in roles])


def dual(roles: Iterable[Any]) -> tuple[Any, ...]:
    """The roles of cotangents of values with these roles."""
    return tuple([_DUAL[r.__class__](r.axis) if r.__class__ in _DUAL else r for r in roles])


def has_roles(vma: Axes) -> bool:
    """Return whether there are others than axes over which a value varies."""
    return any(a.__class__ in _DUAL for a in vma)


def cotangent_vma(vma: Axes) -> Axes:
    """The ``vma`` of cotangents of values with this ``vma``."""
    return frozenset(dual(vma)) if vma and has_roles(vma) else vma


def unreduced_in(vma: Axes) -> Axes:
    """The axes along which a value is an unreduced sum."""
    return frozenset([a.axis for a in vma if a.__class__ is Unreduced])


def reduced_in(vma: Axes) -> Axes:
    """The axes along which cotangents of a value are unreduced sums."""
    return frozenset([a.axis for a in vma if a.__class__ is Reduced])


def varying_in(vma: Axes) -> Axes:
    """The axes over which a value varies."""
    return frozenset([a for a in vma if a.__class__ not in _DUAL])


def vma_of(varying: Iterable[Any], unreduced: Iterable[Any], reduced: Iterable[Any]) -> Axes:
    """The ``vma`` with these :func:`varying_in`, :func:`unreduced_in` and :func:`reduced_in`."""
    return frozenset([*varying, *map(Unreduced, unreduced), *map(Reduced, reduced)])


def text_of(vma: Axes) -> list[str]:
    """The texts of roles in printed types: ``V:x``, ``MU:x``, ``MR:(x,y)``, of those present."""
    result = (("V", varying_in(vma)), ("MU", unreduced_in(vma)), ("MR", reduced_in(vma)))
    axes = [(kind, sorted(map(str, names))) for kind, names in result if names]
    return [f"{k}:{n[0] if len(n) == 1 else '(' + ','.join(n) + ')'}" for k, n in axes]


def joined(primitive: Any, avals: Sequence[Any], params: dict[str, Any], vma: Axes) -> Axes:
    """The ``vma`` of the results of an operation on operands with such roles.

    An operand that is reduced along an axis counts as varying, or as a sum, if another operand is
    that. Unreduced sums stay so in operations that are linear in all of them.

    Args:
        vma: the union of the operands' members.

    Raises:
        ShardingTypeError: it is not linear in the operands that are sums; or one varies over an
            axis along which another is a sum.
    """
    sums = {axis for a in avals for axis in unreduced_in(a.vma)}
    left, varying = unreduced_in(vma) & sums, varying_in(vma)
    if left:
        _check_linear(primitive, avals, params, left, varying)
    return vma.difference([Reduced(a) for a in left | varying])


def _check_linear(
    primitive: Any, avals: Sequence[Any], params: dict[str, Any], left: Axes, varying: Axes
) -> None:
    what, sums = f"{primitive.title(params)}{here()}", sorted(map(str, left))
    if left & varying:
        raise ShardingTypeError(
            f"{what}: an operand is a sum that is left to be done along {sums}, and another varies "
            "over that. Sum the one first (lax.psum), or make the other a summand, too: "
            "lax.pcast(x, axis, to='unreduced')."
        )
    meets = primitive.traits.meets
    if meets is not None and left & set(meets(params)):
        raise ShardingTypeError(
            f"{what}: its operand is a sum that is left to be done along {sums}, over which it is. "
            "Do it first: lax.psum(x, axis)."
        )
    own = {i: left & unreduced_in(a.vma) for i, a in enumerate(avals) if left & unreduced_in(a.vma)}
    alike = all(axes == left for axes in own.values())
    if not alike or all(set(g) != set(own) for g in primitive.traits.groups(len(avals), params)):
        raise ShardingTypeError(
            f"{what}: operands are sums that are left to be done along {sums}, and it is not "
            "linear in all of these together. Do them first: lax.psum(x, axis)."
        )


_DUAL: dict[Any, Any] = {Unreduced: Reduced, Reduced: Unreduced}
