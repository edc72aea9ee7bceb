"""The end of a process of several: together with the others, by an exception, or in a fork."""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import Any

from dovetail_base.source import here
from dovetail_xla import distributed

from .state import global_state
from .watch.ending import say, wait_for_others
from .watch.member import Member
from .watch.messages import raised_at

_SOON = 0.2
"""Seconds."""


def shutdown() -> None:
    """Leave the other processes, once all of them do; a process alone returns at once.

    It is called at the end of the program, too.

    Raises:
        TimeoutError: not all processes came to their ends in time; names them.
    """
    if global_state.client is None:
        return
    member, seconds = global_state.member, global_state.shutdown_timeout
    assert member is not None
    try:
        if not member.leave(seconds) and not member.lost:
            raise TimeoutError(
                f"{me()} waited for {seconds:g} s at its end for the other processes to come to "
                f"theirs{here()}: {where_others_are(member)}. Give initialize a longer "
                "shutdown_timeout_seconds, or let all processes do the same."
            )
        _end_preemption_watch()
        global_state.client.shutdown()
    finally:
        reset()
        atexit.unregister(at_exit)


def at_exit() -> None:
    """Send the other processes the error that ends this one, or wait for them."""
    error = getattr(sys, "last_value", None)
    if error is not None and not hasattr(sys, "ps1"):
        if global_state.member is not None:
            _end_preemption_watch()
            if distributed.timed_out(error):
                say(f"{me()}: {where_others_are(global_state.member)}.")
            # The error may be the loss of another process, which the watch reports soon.
            time.sleep(_SOON)
            global_state.member.fail(_spell(error), raised_at(error))
        if global_state.hub is not None:
            wait_for_others(global_state.hub.others)
        return
    try:
        shutdown()
    except TimeoutError as e:
        say(str(e))


def _spell(error: BaseException) -> str:
    message = str(error)
    return f"{type(error).__name__}{f': {message}' if message else ''}"[:2000]


_parents: list[Any] = []


def watch_forks() -> None:
    """Make processes that this one forks leave the group of joined processes."""
    if not _parents and hasattr(os, "register_at_fork"):
        _parents.append(None)
        os.register_at_fork(after_in_child=_leave_to_parent)


def _leave_to_parent() -> None:
    """Drop the connections of the parent in a forked process, which would keep them open if the
    parent is killed, and report the parent's end at its own."""
    state = global_state
    if state.member is None:
        return
    state.member.abandon()
    if state.hub is not None:
        state.hub.abandon()
    # Destructors of C++ objects would wait for threads that a forked process does not have.
    _parents.append((state.client, state.service, state.preemption_sync_manager))
    state.clear()
    atexit.unregister(at_exit)


def _end_preemption_watch() -> None:
    if global_state.preemption_sync_manager is not None:
        global_state.preemption_sync_manager.shutdown()
        global_state.preemption_sync_manager = None


def reset() -> None:
    """Close the services and connections, and become a process alone."""
    state = global_state
    if state.member is not None:
        state.member.close()
    if state.service is not None:
        state.service.shutdown()
    if state.hub is not None:
        state.hub.stop()
        state.hub.thread.join(2)
    state.clear()


def me() -> str:
    """This process in messages: ``process 1 of 4``."""
    return f"process {global_state.process_id} of {global_state.num_processes}"


def where_others_are(member: Member) -> str:
    """The user's lines that the other processes run, as far as process 0 knows them."""
    result = member.where_are()
    result.pop(member.process, None)
    others = [f"{name} is at {at or 'its end'}" for name, at in result.values()]
    return "; ".join(others) or "nothing is known of them"
