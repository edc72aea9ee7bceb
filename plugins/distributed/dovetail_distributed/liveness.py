"""The processes that are not lost, and their devices."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dovetail_base.source import here

from .state import global_state


def live_processes() -> list[int]:
    """The numbers of the processes that are not lost, in order; [0] in a process alone.

    If the option ``enable_recoverability`` is off, the loss of a process ends all others.
    """
    member = global_state.member
    lost = set[int]() if member is None else member.lost
    return [i for i in range(global_state.num_processes) if i not in lost]


class ProcessFailureError(Exception):
    """A process failed.

    Attributes:
        failed_devices: its devices.
    """

    def __init__(self, failed_devices: set[Any]) -> None:
        self.failed_devices = failed_devices
        super().__init__(
            f"processes failed, with the devices {sorted(d.id for d in failed_devices)}: start "
            "them again, or go on with the devices that are left."
        )


def live_devices(devices: Iterable[Any]) -> AbstractContextManager[list[Any]]:
    """A context with those of some devices whose processes live.

    All processes that live enter it together. It needs the option ``enable_recoverability``, since
    otherwise the loss of a process ends the others.

    Raises:
        RuntimeError: this process was not started as one of several.
        ProcessFailureError: at the end of the block, if a process was lost during it.
    """
    if global_state.client is None:
        raise RuntimeError(
            f"live_devices{here()}: this process was not started as one of several, so that no "
            "device can go. Use the devices as they are."
        )
    return _living(list(devices))


@contextmanager
def _living(devices: list[Any]) -> Generator[list[Any]]:
    before = set(live_processes())
    here_now = [d for d in devices if d.process_index in before]
    yield here_now
    lost = before - set(live_processes())
    if lost:
        raise ProcessFailureError({d for d in here_now if d.process_index in lost})
