"""The runtime's own guards: of transfers between host and devices, of garbage collection, threads.

A guard has a value for the process and one for each thread, which goes first where it is not None.
Its objects have the methods of :class:`~dovetail_xla.config.Config`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import bindings as _b

_TRANSFERS = _b.TransferGuardLevel
TRANSFER_LEVELS = {
    "allow": _TRANSFERS.ALLOW,
    "log": _TRANSFERS.LOG,
    "disallow": _TRANSFERS.DISALLOW,
    "log_explicit": _TRANSFERS.LOG_EXPLICIT,
    "disallow_explicit": _TRANSFERS.DISALLOW_EXPLICIT,
}
COLLECTION_LEVELS = {
    "allow": _b.GarbageCollectionGuardLevel.ALLOW,
    "log": _b.GarbageCollectionGuardLevel.LOG,
    "fatal": _b.GarbageCollectionGuardLevel.FATAL,
}
_used: list[bool] = []  # not empty once a transfer guard was set


class Guard:
    """Some fields of the runtime's guards, which are set together to a named level."""

    __slots__ = ("_fields", "_levels")

    def __init__(self, levels: dict[str, Any], *fields: str) -> None:
        self._levels, self._fields = levels, fields

    @property
    def value(self) -> str | None:
        """The level in this thread; None if it was never set, or if the fields differ."""
        local, everywhere = self.get_local(), self._get(_b.guard_global_state())
        result = {e if v is None else v for v, e in zip(local, everywhere)}
        names = [n for n, level in self._levels.items() if result == {level}]
        return names[0] if names else None

    def get_local(self) -> tuple[Any, ...]:
        """The levels that this thread has set, field by field."""
        return self._get(_b.guard_thread_state())

    def set_local(self, value: str | tuple[Any, ...] | None) -> None:
        """Set a level in this thread, or restore what :meth:`get_local` returned."""
        self._set(_b.guard_thread_state(), value)

    def set_global(self, value: str | None) -> None:
        """Set a level for all threads that have set none."""
        self._set(_b.guard_global_state(), value)

    def _get(self, state: Any) -> tuple[Any, ...]:
        return tuple([getattr(state, field) for field in self._fields])

    def _set(self, state: Any, value: Any) -> None:
        levels: Any = value
        if not isinstance(value, tuple):
            levels = (None if value is None else self._levels[value],) * len(self._fields)
        for field, level in zip(self._fields, levels):
            setattr(state, field, level)
            if level is not None:
                _used.append(True)
                del _used[1:]


class ThreadGuard:
    """The guard that lets one thread alone start computations of several processes."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = False

    def get_local(self) -> bool:
        """The value, which is one for all threads."""
        return self.value

    def set_local(self, value: bool) -> None:
        """Set the value, for all threads."""
        self.set_global(value)

    def set_global(self, value: bool) -> None:
        """Set the value."""
        if value != self.value:
            _b.update_thread_guard_global_state(value)
            self.value = value


def watches_transfers() -> bool:
    """Return whether a transfer may be logged or refused at present."""
    if not _used:
        return False
    fields = ("host_to_device", "device_to_device", "device_to_host")
    states = _b.guard_thread_state(), _b.guard_global_state()
    levels = {getattr(state, field) for state in states for field in fields}
    return not levels <= {None, _TRANSFERS.ALLOW}


def explicit_put(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, whose transfers to devices the user asked for."""
    return _explicit("explicit_device_put", f, *args) if _used else f(*args)


def explicit_get(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, whose transfers to the host the user asked for."""
    return _explicit("explicit_device_get", f, *args) if _used else f(*args)


def _explicit(field: str, f: Callable[..., Any], *args: Any) -> Any:
    state = _b.guard_thread_state()
    outer = getattr(state, field)
    try:
        try:
            setattr(state, field, True)
            return f(*args)
        finally:
            setattr(state, field, outer)
    finally:
        setattr(state, field, outer)
