"""Which processes live."""

from __future__ import annotations

from .state import global_state


def live_processes() -> list[int]:
    """The numbers of the processes that are not lost, in order; [0] in a process alone.

    Where the option ``enable_recoverability`` is off, a process that is lost ends all others.
    """
    member = global_state.member
    lost = set[int]() if member is None else member.lost
    return [i for i in range(global_state.num_processes) if i not in lost]
