"""Roles of axes of a mesh, beside "varies", in the type of a part that each device has one of.

``ShapedArray.vma`` has the axes over which a part varies, and, of these two kinds, axes along which
it is a summand of a value, and axes along which its cotangents are such summands. They are each
other's duals: what an operation does to a value over ``Reduced(a)``, its transpose does to a
cotangent over ``Unreduced(a)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_base.errors import ShardingTypeError
from dovetail_base.source import here

Axes = frozenset[Any]


@dataclass(frozen=True, slots=True)
class Unreduced:
    """Along ``axis`` devices have summands of the value; the sum is left to be done."""

    axis: Any


@dataclass(frozen=True, slots=True)
class Reduced:
    """Along ``axis`` devices have one value, of whose cotangent they have summands."""

    axis: Any


def axis_of(role: Any) -> Any:
    """The axis that a member of ``vma`` is about."""
    return role.axis if role.__class__ in _DUAL else role


def names_of(roles: Iterable[Any]) -> tuple[Any, ...]:
    """The axes that members of ``vma`` are about."""
    return tuple([axis_of(r) for r in roles])


def dual(roles: Iterable[Any]) -> tuple[Any, ...]:
    """The roles that cotangents have of what has these."""
    return tuple([_DUAL[r.__class__](r.axis) if r.__class__ in _DUAL else r for r in roles])


def has_roles(vma: Axes) -> bool:
    """Whether there is more to it than axes over which a value varies."""
    return any(a.__class__ in _DUAL for a in vma)


def cotangent_vma(vma: Axes) -> Axes:
    """What is said of cotangents of values of which ``vma`` is said."""
    return frozenset(dual(vma)) if vma and has_roles(vma) else vma


def unreduced_in(vma: Axes) -> Axes:
    """The axes along which a value is a sum that is left to be done."""
    return frozenset([a.axis for a in vma if a.__class__ is Unreduced])


def reduced_in(vma: Axes) -> Axes:
    """The axes along which cotangents of a value are such sums."""
    return frozenset([a.axis for a in vma if a.__class__ is Reduced])


def varying_in(vma: Axes) -> Axes:
    """The axes over which a value varies."""
    return frozenset([a for a in vma if a.__class__ not in _DUAL])


def vma_of(varying: Iterable[Any], unreduced: Iterable[Any], reduced: Iterable[Any]) -> Axes:
    """What :func:`varying_in`, :func:`unreduced_in` and :func:`reduced_in` tell apart."""
    return frozenset([*varying, *map(Unreduced, unreduced), *map(Reduced, reduced)])


def text_of(vma: Axes) -> list[str]:
    """How types are printed: ``V:x``, ``MU:x``, ``MR:(x,y)``, of what there is."""
    found = (("V", varying_in(vma)), ("MU", unreduced_in(vma)), ("MR", reduced_in(vma)))
    axes = [(kind, sorted(map(str, names))) for kind, names in found if names]
    return [f"{k}:{n[0] if len(n) == 1 else '(' + ','.join(n) + ')'}" for k, n in axes]


def joined(primitive: Any, avals: Sequence[Any], params: dict[str, Any], vma: Axes) -> Axes:
    """What is said of the results of an operation, of operands that have such roles.

    Beside an operand that varies over an axis, or is a sum along it, one that is reduced along it
    does as well. Sums that are left to be done pass through what is linear in all that are.

    Args:
        vma: what is said of any operand.

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
