"""Placements of arrays: devices, shardings, and values that plugins resolve to shardings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_xla.client import Device
from dovetail_xla.shardings import Sharding

Resolver = Callable[[str, Any], Any]
"""(argument, value) -> the sharding that the value stands for at present; raises if none."""

_resolvers: dict[type, Resolver] = {}
_around: list[Callable[[], Any]] = []


def register_placement(cls: type, resolve: Resolver) -> None:
    """Accept values of ``cls`` wherever a sharding is given (see :data:`Resolver`)."""
    _resolvers[cls] = resolve


def is_placement(value: Any) -> bool:
    """Return whether a value is a device, a sharding, or of a class that resolves to one."""
    return isinstance(value, (Device, Sharding)) or value.__class__ in _resolvers


def register_surroundings(get: Callable[[], Any]) -> None:
    """Register a function that returns the placement of arrays for which none is given.

    ``get()`` returns a replicated sharding, or None for the default device.
    """
    _around.append(get)


def surroundings() -> Any:
    """The sharding of arrays for which no placement is given; None for the default device."""
    for get in _around:
        if (result := get()) is not None:
            return result
    return None


def resolve_placement(argument: str, value: Any) -> Any:
    """The sharding that ``value`` stands for, or ``value`` as it is.

    Args:
        argument: its name in errors: ``"device of device_put"``.
    """
    resolve = _resolvers.get(value.__class__)
    return value if resolve is None else resolve(argument, value)
