"""Which devices are there, where processes may be lost."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dovetail_base.source import here

from .living import live_processes
from .state import global_state


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
    """Those of some devices whose processes live, for the length of a ``with`` block.

    All processes that live enter it together. To be of use, the option ``enable_recoverability`` is
    on: else a process that is lost ends the others.

    Raises:
        RuntimeError: this process was not started as one of several.
        ProcessFailureError: at the end of the block: a process was lost meanwhile.
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
