"""Options that log or forbid transfers, and other guards of the runtime."""

from __future__ import annotations

from typing import Any

from dovetail_base.options import as_bool
from dovetail_core import Option, config
from dovetail_xla.guards import COLLECTION_LEVELS, TRANSFER_LEVELS, Guard, ThreadGuard

_DIRECTIONS = ("host_to_device", "device_to_device", "device_to_host")


def _one_of(levels: dict[str, Any]) -> Any:
    def check(value: Any) -> Any:
        if value is not None and value not in levels:
            names = ", ".join(map(repr, levels))
            raise ValueError(f"expected None or one of {names}, not {value!r}")
        return value

    return check


def _transfers(name: str, doc: str, *fields: str) -> Option:
    state, check = Guard(TRANSFER_LEVELS, *fields), _one_of(TRANSFER_LEVELS)
    return config.add(Option(name, None, doc, check=check, state=state))


transfer_guard = _transfers(
    "transfer_guard",
    "What happens at transfers between host and devices and between devices: 'allow', 'log', "
    "'disallow' (those that nobody asked for; device_put and device_get ask for them), "
    "'log_explicit' or 'disallow_explicit' (all).",
    *_DIRECTIONS,
)
transfer_guard_host_to_device, transfer_guard_device_to_device, transfer_guard_device_to_host = [
    _transfers(f"transfer_guard_{field}", f"The same as transfer_guard, {text} alone.", field)
    for field, text in zip(
        _DIRECTIONS, ("from host to devices", "between devices", "from devices to the host")
    )
]
array_garbage_collection_guard = config.add(
    Option(
        "array_garbage_collection_guard",
        None,
        "What happens when an array is freed by the garbage collector, as part of a reference "
        "cycle, and not with its last reference: 'allow', 'log' or 'fatal'.",
        check=_one_of(COLLECTION_LEVELS),
        state=Guard(COLLECTION_LEVELS, "garbage_collect_array"),
    )
)
thread_guard = config.add(
    Option(
        "thread_guard",
        False,
        "Whether computations that span several processes must be started by one thread.",
        check=as_bool,
        state=ThreadGuard(),
    )
)
