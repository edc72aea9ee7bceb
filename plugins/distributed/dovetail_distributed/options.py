"""The options of programs of several processes."""

from __future__ import annotations

from typing import Any

from dovetail_base.options import as_bool
from dovetail_core import Option, config

_COLLECTIVES = ("gloo", "mpi", "none")


def _collectives(value: Any) -> str:
    if value not in _COLLECTIVES:
        raise ValueError(f"expected one of {', '.join(_COLLECTIVES)}, got {value!r}")
    return value


def _seconds(value: Any) -> float:
    result = float(value)
    if not result > 0:
        raise ValueError(f"expected a number of seconds above 0, got {value!r}")
    return result


cpu_collectives_implementation = config.add(
    Option(
        "cpu_collectives_implementation",
        "gloo",
        "What carries values between CPUs of several processes: gloo (TCP), mpi, or none.",
        check=_collectives,
    )
)
enable_preemption_service = config.add(
    Option(
        "enable_preemption_service",
        True,
        "Processes tell each other when one of them gets a signal to end "
        "(multihost_utils.reached_preemption_sync_point).",
        check=as_bool,
    )
)
enable_recoverability = config.add(
    Option(
        "enable_recoverability",
        False,
        "Where a process is lost, the others are told (distributed.live_processes) and go on; "
        "False ends them.",
        check=as_bool,
    )
)
compare_processes = config.add(
    Option(
        "compare_processes",
        True,
        "Before a program first runs on devices of several processes, they compare what each of "
        "them runs, and before values are put there, what each of them puts.",
        check=as_bool,
    )
)
compare_timeout = config.add(
    Option(
        "compare_timeout",
        300.0,
        "For how many seconds a process waits for the others to come to the same program.",
        check=_seconds,
    )
)
program_timeout = config.add(
    Option(
        "program_timeout",
        1800.0,
        "For how many seconds a process waits for a result of programs on devices of several "
        "processes; then it says where the others are, and ends.",
        check=_seconds,
    )
)
