"""Devices of the reference backend: threads, each with its position along named axes.

What runs on several devices runs in as many threads, which wait for each other where values are
exchanged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from itertools import product
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds after which a device that waits for others says so."""


class _Table:
    """Where values are exchanged; all devices of a program share one."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.values: dict[Any, dict[int, Any]] = {}
        self.failed = False


class _Device(NamedTuple):
    sizes: Mapping[Any, int]
    position: Mapping[Any, int]
    table: _Table
    counts: dict[Any, int]


_here: ContextVar[_Device | None] = ContextVar("dovetail_reference_device", default=None)


def on_devices(sizes: Mapping[Any, int], f: Callable[[], T]) -> list[T]:
    """``f()`` on each device of a grid with these axes, the last of which varies fastest."""
    outer = _here.get()
    table = outer.table if outer is not None else _Table()
    around = (outer.sizes, outer.position) if outer is not None else ({}, {})
    places = [dict(zip(sizes, at)) for at in product(*map(range, sizes.values()))]
    result: list[Any] = [None] * len(places)
    errors: list[BaseException] = []

    def run(i: int) -> None:
        device = _Device({**around[0], **sizes}, {**around[1], **places[i]}, table, {})
        _here.set(device)
        try:
            result[i] = f()
        except BaseException as e:
            errors.append(e)
            with table.changed:
                table.failed = True
                table.changed.notify_all()

    threads = [
        threading.Thread(target=copy_context().run, args=(run, i)) for i in range(len(places))
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise next((e for e in errors if not isinstance(e, _Alone)), errors[0])
    return result


class _Alone(RuntimeError):
    """A device waited for others that did not come."""


def index_along(axes: Sequence[Any]) -> int:
    """This device's position along axes, the last of which varies fastest."""
    device = _device(axes)
    result = 0
    for a in axes:
        result = result * device.sizes[a] + device.position[a]
    return result


def exchanged(axes: Sequence[Any], value: Any) -> list[Any]:
    """The values of all devices along axes, the last of which varies fastest."""
    device = _device(axes)
    others = tuple((a, n) for a, n in device.position.items() if a not in axes)
    group = (tuple(axes), others)
    number = device.counts[group] = device.counts.get(group, 0) + 1
    size = 1
    for a in axes:
        size *= device.sizes[a]
    table, key = device.table, (group, number)
    with table.changed:
        values = table.values.setdefault(key, {})
        values[index_along(axes)] = value
        table.changed.notify_all()
        there = table.changed.wait_for(lambda: len(values) == size or table.failed, PATIENCE)
        if not there or len(values) < size:
            raise _Alone(
                f"a device waits along the axes {tuple(axes)} for others, of which "
                f"{size - len(values)} did not come to the same operation."
            )
        return [values[i] for i in range(size)]


def _device(axes: Sequence[Any]) -> _Device:
    device = _here.get()
    if device is None or any(a not in device.position for a in axes):
        raise NameError(
            f"a collective over {', '.join(map(repr, axes))} is evaluated where no device is known "
            "along that. Evaluate the program around, with vmap or shard_map."
        )
    return device
