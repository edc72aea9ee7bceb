"""The types of axes of a mesh, by which shardings along them are chosen."""

from __future__ import annotations

from enum import Enum


class AxisType(Enum):
    """The way in which shardings along an axis of a mesh are chosen.

    Attributes:
        Auto: by the compiler, from the shardings of arguments and from constraints.
        Explicit: by the program; they are part of types.
        Manual: functions compute with the part that is on one device.
    """

    Auto = 0
    Explicit = 1
    Manual = 2

    def __repr__(self) -> str:
        return self.name


def axis_types_of(
    given: AxisType | tuple[AxisType, ...] | None, names: tuple[object, ...]
) -> tuple[AxisType, ...]:
    """One type for each axis name: all ``Auto`` by default, all equal if one is given.

    Raises:
        ValueError: there is another number of types. TypeError: one is something else.
    """
    if given is None:
        return (AxisType.Auto,) * len(names)
    types = (given,) * len(names) if isinstance(given, AxisType) else tuple(given)
    for t in types:
        if not isinstance(t, AxisType):
            raise TypeError(
                f"axis_types has an item of type {type(t).__name__}: give AxisType.Auto, "
                "AxisType.Explicit or AxisType.Manual for each axis."
            )
    if len(types) != len(names):
        raise ValueError(
            f"axis_types {types} has {len(types)} items and axis_names {names} has {len(names)}: "
            "give one type for each axis."
        )
    return types
