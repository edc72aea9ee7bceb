"""Kinds of memory, by what they are for."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from dovetail_base.source import here
from dovetail_core import Tracer
from dovetail_xla.arrays import ArrayImpl

__all__ = ["Space"]


class Space(Enum):
    """A kind of memory: the device's own, memory of the host that it can reach, or any."""

    Device = auto()
    Host = auto()
    Any = auto()

    def __repr__(self) -> str:
        return f"Space.{self.name}"


def in_space(x: Any, space: Space, default: Any) -> Any:
    """The sharding of ``x`` with another memory of its devices; None for a traced value, whose
    memory the compiler chooses. ``default()`` is the sharding of values that are on no device yet.

    Raises:
        ValueError: ``space`` is ``Space.Any``, or the devices have no such memory.
    """
    if space is Space.Any:
        raise ValueError(f"device_put{here()}: Space.Any names no memory. Give another.")
    if isinstance(x, Tracer):
        return None
    sharding: Any = x._sharding if isinstance(x, ArrayImpl) else default()
    (device, *_) = sharding.device_set
    kind = device.default_memory().kind if space is Space.Device else "pinned_host"
    return sharding.with_memory_kind(kind)
