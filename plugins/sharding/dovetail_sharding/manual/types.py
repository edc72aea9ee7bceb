"""The manual axes of types of values within ``shard_map``, by JAX's names."""

from __future__ import annotations

from collections.abc import Set
from itertools import combinations
from typing import Any

from dovetail_base.source import here
from dovetail_core import axis_names, manual_axis_types

Axes = frozenset[Any]


class ManualAxisType:
    """The role of each manual axis of a mesh for a value.

    Args:
        varying: axes along which devices have different values.
        unreduced: axes along which they have summands of the value.
        reduced: axes along which cotangents are such summands.

    Raises:
        ValueError: an axis has several of these roles.
    """

    __slots__ = ("varying", "unreduced", "reduced")
    varying: Axes
    unreduced: Axes
    reduced: Axes

    def __init__(
        self, varying: Set[Any] = frozenset(), unreduced: Set[Any] = frozenset(),
        reduced: Set[Any] = frozenset(),
    ) -> None:  # fmt: skip
        roles = {"varying": varying, "unreduced": unreduced, "reduced": reduced}
        for (one, mine), (other, theirs) in combinations(roles.items(), 2):
            if both := set(mine) & set(theirs):
                raise ValueError(
                    f"ManualAxisType{here()}: {sorted(map(str, both))} is in {one} and in {other}. "
                    "An axis of a mesh has one role."
                )
        for name, axes in roles.items():
            object.__setattr__(self, name, frozenset(axes))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a ManualAxisType does not change: use update({name}=...).")

    @property
    def empty(self) -> bool:
        """True if no axis has a role: devices have the same value."""
        return not (self.varying or self.unreduced or self.reduced)

    def update(self, **changes: Any) -> ManualAxisType:
        """With other ``varying``, ``unreduced`` or ``reduced`` axes."""
        return ManualAxisType(**{**{n: getattr(self, n) for n in self.__slots__}, **changes})

    def _key(self) -> tuple[Axes, Axes, Axes]:
        return self.varying, self.unreduced, self.reduced

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ManualAxisType) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"ManualAxisType(varying={self.varying}, unreduced={self.unreduced}, "
            f"reduced={self.reduced})"
        )

    def __reduce__(self) -> Any:
        return ManualAxisType, self._key()


def of_type(aval: Any) -> ManualAxisType:
    """The roles of manual axes in a type, without unchecked axes, along which all values vary."""
    vma = aval.vma
    unchecked = {name for name, checked in axis_names.manual_axes().items() if not checked}
    return ManualAxisType(
        manual_axis_types.varying_in(vma) - unchecked,
        manual_axis_types.unreduced_in(vma) - unchecked,
        manual_axis_types.reduced_in(vma) - unchecked,
    )
