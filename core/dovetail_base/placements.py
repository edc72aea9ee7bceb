"""Places for arrays: devices, shardings, and what plugins know how to make shardings of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_xla.client import Device
from dovetail_xla.shardings import Sharding

Resolver = Callable[[str, Any], Any]
"""(argument, value) -> the sharding that the value stands for now; raises if it stands for none."""

_resolvers: dict[type, Resolver] = {}
_around: list[Callable[[], Any]] = []


def register_placement(cls: type, resolve: Resolver) -> None:
    """Values of ``cls`` stand for a sharding wherever one is given (see :data:`Resolver`)."""
    _resolvers[cls] = resolve


def stands_for_place(value: Any) -> bool:
    """Whether a value is a device, a sharding, or something that stands for one."""
    return isinstance(value, (Device, Sharding)) or value.__class__ in _resolvers


def register_surroundings(get: Callable[[], Any]) -> None:
    """``get()`` is the sharding, copies on all of its devices, of what is not told where to be.

    It returns None where the default device is the place.
    """
    _around.append(get)


def surroundings() -> Any:
    """The sharding of what is not told where to be, or None: it is on the default device."""
    for get in _around:
        if (found := get()) is not None:
            return found
    return None


def resolve_placement(argument: str, value: Any) -> Any:
    """The sharding that ``value`` stands for, or ``value`` as it is.

    Args:
        argument: what errors call it: ``"device of device_put"``.
    """
    resolve = _resolvers.get(value.__class__)
    return value if resolve is None else resolve(argument, value)
