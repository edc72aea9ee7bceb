"""What this process knows of the program of several processes that it is part of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .watch.hub import Hub
    from .watch.member import Member


@dataclass
class State:
    """A process alone, until ``initialize`` is called.

    Attributes:
        process_id: the number of this process among ``num_processes``.
        service: the runtime's coordination service, in process 0. client: its client.
        coordinator_address: where process 0 is found.
        local_device_ids: which of the machine's devices this process uses; None means all.
        preemption_sync_manager: what tells of signals to end, or None.
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
        """A process alone again."""
        self.__dict__.update(vars(State()))


global_state = State()
"""What this process knows now."""
