"""Devices of the reference backend: threads, each with its position along named axes.

A program on several devices runs in as many threads, which wait for each other in collectives.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from itertools import product
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
TIMEOUT = 60.0
"""Seconds after which a device that waits for others raises an error."""


class _Exchange:
    """Values that devices exchange in collectives; all devices of a program share one."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.values: dict[Any, dict[int, Any]] = {}
        self.failed = False


class _Device(NamedTuple):
    sizes: Mapping[Any, int]
    position: Mapping[Any, int]
    exchange: _Exchange
    counts: dict[Any, int]


_current: ContextVar[_Device | None] = ContextVar("dovetail_reference_device", default=None)


def run_on_devices(sizes: Mapping[Any, int], f: Callable[[], T]) -> list[T]:
    """``f()`` on each device of a grid with these axes, the last of which varies fastest."""
    outer = _current.get()
    exchange = outer.exchange if outer is not None else _Exchange()
    outer_sizes, outer_position = (outer.sizes, outer.position) if outer is not None else ({}, {})
    positions = [dict(zip(sizes, at)) for at in product(*map(range, sizes.values()))]
    result: list[Any] = [None] * len(positions)
    errors: list[BaseException] = []

    def run(i: int) -> None:
        position = {**outer_position, **positions[i]}
        device = _Device({**outer_sizes, **sizes}, position, exchange, {})
        _current.set(device)
        try:
            result[i] = f()
        except BaseException as e:
            errors.append(e)
            with exchange.changed:
                exchange.failed = True
                exchange.changed.notify_all()

    threads = [
        threading.Thread(target=copy_context().run, args=(run, i)) for i in range(len(positions))
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise next((e for e in errors if not isinstance(e, _PeerMissing)), errors[0])
    return result


class _PeerMissing(RuntimeError):
    """A device waited for others that did not come."""


def position_along(axes: Sequence[Any]) -> int:
    """This device's position along axes, the last of which varies fastest."""
    device = _device(axes)
    result = 0
    for a in axes:
        result = result * device.sizes[a] + device.position[a]
    return result


def gathered_values(axes: Sequence[Any], value: Any) -> list[Any]:
    """The values of all devices along axes, the last of which varies fastest."""
    device = _device(axes)
    others = tuple((a, n) for a, n in device.position.items() if a not in axes)
    group = (tuple(axes), others)
    number = device.counts[group] = device.counts.get(group, 0) + 1
    size = 1
    for a in axes:
        size *= device.sizes[a]
    exchange, key = device.exchange, (group, number)
    with exchange.changed:
        values = exchange.values.setdefault(key, {})
        values[position_along(axes)] = value
        exchange.changed.notify_all()
        ended = exchange.changed.wait_for(lambda: len(values) == size or exchange.failed, TIMEOUT)
        if not ended or len(values) < size:
            raise _PeerMissing(
                f"a device waits along the axes {tuple(axes)} for others, of which "
                f"{size - len(values)} did not come to the same operation."
            )
        return [values[i] for i in range(size)]


def _device(axes: Sequence[Any]) -> _Device:
    device = _current.get()
    if device is None or any(a not in device.position for a in axes):
        raise NameError(
            f"a collective over {', '.join(map(repr, axes))} is evaluated outside of devices with "
            "these axes. Evaluate the enclosing program, with vmap or shard_map."
        )
    return device
