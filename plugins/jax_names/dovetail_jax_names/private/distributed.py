"""``jax._src.distributed``. orbax: ``global_state`` says which process of how many this one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .absent import absent


@dataclass
class State:
    """What is known of the processes of a program: this one is alone."""

    process_id: int = 0
    num_processes: int = 1
    service: Any = None
    client: Any = None
    coordinator_address: str | None = None
    preemption_sync_manager: Any = None
    partition_index: int | None = None


global_state = State()


def __getattr__(name: str) -> Any:
    raise absent("jax._src.distributed", name)
