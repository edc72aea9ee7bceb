"""The state of this process as one of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .watch.hub import Hub
    from .watch.member import Member


@dataclass
class State:
    """The state of a process; that of a process alone until ``initialize`` is called.

    Attributes:
        process_id: the number of this process among ``num_processes``.
        service: the runtime's coordination service, in process 0. client: its client.
        coordinator_address: the address of process 0.
        local_device_ids: the machine's devices that this process uses; None means all.
        preemption_sync_manager: the manager of termination signals, or None.
        hub, member: this process's parts of the watch.
    """

    process_id: int = 0
    num_processes: int = 1
    service: Any = None
    client: Any = None
    coordinator_address: str | None = None
    preemption_sync_manager: Any = None
    partition_index: int | None = None
    local_device_ids: tuple[int, ...] | None = None
    shutdown_timeout: float = 300
    hub: Hub | None = None
    member: Member | None = None

    def clear(self) -> None:
        """Become the state of a process alone."""
        self.__dict__.update(vars(State()))


global_state = State()
"""The state of this process."""
