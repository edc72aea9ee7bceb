"""The start of a program of several processes: ``initialize``."""

from __future__ import annotations

import atexit
import threading
import time
import warnings
from collections.abc import Sequence
from math import ceil
from typing import Any

from dovetail_backends import started_backends
from dovetail_base import arguments
from dovetail_base.source import here
from dovetail_xla import distributed

from .addresses import connect, free_port, is_loopback, listen, parse, spell
from .detecting import Place, find_position
from .launchers import is_orphan
from .options import enable_preemption_service, enable_recoverability, program_timeout
from .state import global_state
from .termination import at_exit, me, reset, watch_forks, where_others_are
from .watch.ending import STATUS, end, end_at_once, say, text_of
from .watch.hub import BEATS, Hub
from .watch.member import Member, Refused
from .watch.messages import whereabouts
from .watch.stalls import Waiting


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
) -> None:
    """Join the processes of a program; to be called in each of them before the first array.

    What is not given is asked of the environment: of ``dovetail launch``, Slurm, Open MPI, MPICH,
    Kubernetes, a cloud TPU, or what a plugin adds (``members`` of ``distributed.detectors``).

    Args:
        coordinator_address: ``host:port`` of process 0, which listens there.
        num_processes: the number of processes. process_id: the number of this one.
        local_device_ids: the accelerators of this machine that this process uses.
        cluster_detection_method: the name of the only detector to use; ``"deactivate"``: none.
        initialization_timeout: the seconds that processes wait for each other.
        heartbeat_timeout_seconds: the seconds without a sign of life after which a process is lost.
            If one is killed or ends, the others are notified at once. They end, and name the
            process that caused it (see the option ``enable_recoverability``).
        shutdown_timeout_seconds: the seconds that a process waits at its end for the others.
        coordinator_bind_address: the address at which process 0 listens; by default all of its
            addresses, or coordinator_address if that is a loopback address.
        slice_index: an older name of ``partition_index``.
        partition_index: the group of fast connections that the accelerators of this process are in.

    Raises:
        RuntimeError: it was called before, or there are arrays already; process 0 cannot listen;
            the job at the address is another one.
        TimeoutError: a process did not come; says which.
        ValueError: something is not given and not found, or does not fit.
    """
    if slice_index is not None:
        warnings.warn(
            "slice_index of initialize is deprecated: give partition_index.",
            DeprecationWarning,
            stacklevel=2,
        )
        partition_index = slice_index if partition_index is None else partition_index
    _check_time()
    given = Place(coordinator_address, num_processes, process_id, _numbers(local_device_ids))
    position = find_position(given, cluster_detection_method, initialization_timeout)
    host, port = parse("coordinator_address", position.coordinator_address)
    seconds = {
        "initialization_timeout": initialization_timeout,
        "heartbeat_timeout_seconds": heartbeat_timeout_seconds,
        "shutdown_timeout_seconds": shutdown_timeout_seconds,
    }
    for name, value in seconds.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, got {value!r}{here()}.")
    global_state.partition_index = partition_index
    global_state.shutdown_timeout = shutdown_timeout_seconds
    try:
        _join(position, host, port, coordinator_bind_address, seconds)
    except BaseException:
        reset()
        raise
    atexit.register(at_exit)
    watch_forks()


def is_initialized() -> bool:
    """True if this process was joined to others."""
    return global_state.client is not None


def _join(
    position: Place, host: str, port: int, bind_address: str | None, seconds: dict[str, Any]
) -> None:
    process, processes = position.process_id, position.num_processes
    assert process is not None and processes is not None
    until = time.monotonic() + seconds["initialization_timeout"]
    state = global_state
    state.process_id, state.num_processes = process, processes
    state.coordinator_address = spell(host, port)
    state.local_device_ids = position.local_device_ids
    bind = _bind_address(host, port, bind_address)
    # The watch's message about a missing result says more, so that it should come first.
    pause = seconds["heartbeat_timeout_seconds"] / BEATS
    distributed.limit_collectives(ceil(program_timeout.value + 3 * pause))
    if process == 0:
        state.hub = Hub(
            listen(*bind), processes, seconds["heartbeat_timeout_seconds"], position.job
        )
    state.member = _member(host, port, seconds, position.job)
    if state.hub is not None:
        _gather(state.hub, seconds["initialization_timeout"], until)
        service_port = free_port(bind[0])
        service = spell(bind[0], service_port)
        state.service = distributed.serve(service, processes, 30)
        state.hub.start(service_port)
    try:
        # Process 0 first reports the processes that it waits for.
        service_port = state.member.wait_for_start(max(until + 2 - time.monotonic(), 0.1))
    except Refused as e:
        raise RuntimeError(f"{me()} at {state.coordinator_address}{here()}: {e}") from None
    except TimeoutError:
        raise _absent(host, port, seconds["initialization_timeout"], "did not begin") from None
    left = max(int(until - time.monotonic()), 30)
    state.client = distributed.connect(spell(host, service_port), process, left, 30)
    if enable_preemption_service.value:
        state.preemption_sync_manager = distributed.preemption_watch(state.client)


def _bind_address(host: str, port: int, given: str | None) -> tuple[str, int]:
    if given is not None:
        return parse("coordinator_bind_address", given)
    if is_loopback(host):
        return host, port
    return ("::" if ":" in host else "0.0.0.0"), port


def _member(host: str, port: int, seconds: dict[str, Any], job: str | None) -> Member:
    limit = seconds["initialization_timeout"]
    try:
        connection = connect(host, port, limit)
    except TimeoutError as e:
        raise _absent(host, port, limit, f"is not reached ({e})") from None
    beat = seconds["heartbeat_timeout_seconds"]
    state = global_state
    waiting = Waiting(_live_arrays, lambda: program_timeout.value, beat / BEATS)

    orphan = is_orphan()

    def poll() -> None:
        if orphan():
            threading.Thread(target=_end_orphan, daemon=True).start()
        if (result := waiting.poll()) is not None:
            threading.Thread(target=_end_waiting, args=(result,), daemon=True).start()

    return Member(connection, state.process_id, state.num_processes, beat, _on_failure, poll, job)


def _live_arrays() -> list[Any]:
    return [x for b in started_backends() for x in b.client.live_arrays()]


def _end_orphan() -> None:
    """End this process, whose output nobody reads."""
    member, hub = global_state.member, global_state.hub
    if member is not None:
        member.fail("was left by dovetail launch, which ended")
        end_at_once(int if hub is None else hub.others)


def _end_waiting(kind: str) -> None:
    """End this process, which has waited too long for a result."""
    member, hub = global_state.member, global_state.hub
    if member is None:
        return
    why = f"waited {program_timeout.value:g} s (program_timeout) for a result of type {kind} of a"
    why += " program that all processes are to run"
    say(
        f"{me()} has {why}, at {whereabouts() or 'an unknown line'}; {where_others_are(member)}. "
        f"It ends now with exit status {STATUS}."
    )
    member.fail(why)
    end_at_once(int if hub is None else hub.others)


def _gather(hub: Hub, limit: float, until: float) -> None:
    if hub.complete.wait(max(until - time.monotonic(), 0.1)):
        return
    missing = hub.missing()
    which = f"process{'es' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    why = (
        f"{which} of {hub.processes} did not come to initialize within {limit:g} s "
        "(initialization_timeout). Look into what they wrote, or whether they were started"
    )
    hub.refuse_all(f"{why}.")
    raise TimeoutError(f"{me()} at {global_state.coordinator_address}{here()}: {why}.")


def _absent(host: str, port: int, limit: float, what: str) -> TimeoutError:
    return TimeoutError(
        f"{me()}{here()}: process 0 at {spell(host, port)} {what} within {limit:g} s "
        "(initialization_timeout). Look into what it wrote, whether it was started, and whether "
        "all processes have the same coordinator_address."
    )


def _on_failure(result: dict[str, Any]) -> None:
    me, count = global_state.process_id, global_state.num_processes
    # Without process 0, and its coordination service, nobody can go on.
    if enable_recoverability.value and result["process"] not in (me, 0):
        say(text_of(result, me, count, goes_on=True))
    else:
        hub = global_state.hub
        end(result, me, count, int if hub is None else hub.others)


def _check_time() -> None:
    if is_initialized():
        raise RuntimeError(f"distributed.initialize was called before{here()}: call it once.")
    started = list(dict.fromkeys(b.platform for b in started_backends()))
    if started:
        raise RuntimeError(
            f"distributed.initialize{here()} comes too late: {', '.join(started)} is in use "
            "already. Call it before anything makes an array or asks for devices."
        )


def _numbers(given: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    return (given,) if isinstance(given, int) else arguments.integers("local_device_ids", given)
