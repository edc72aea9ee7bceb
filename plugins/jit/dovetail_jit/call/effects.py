"""Runs that are not over: effects and callbacks of programs, until they were waited for."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from dovetail_xla import execution, fork
from dovetail_xla.callbacks import exception_behind, in_callback

_running: dict[int, Any] = {}
"""The tokens of programs with effects, by their number, until they were waited for."""
_number = count()
MANY = 32
"""The largest number of programs with effects that may be running."""
_callers: set[Any] = set()
"""The clients that run programs that call Python."""


def run_with_effects(
    loaded: Any, arrays: Sequence[Any], handlers: Sequence[Any], ordered: bool
) -> list[Any]:
    """``execution.run`` of a program with effects, remembered for :func:`effects_barrier`.

    If its effects are ``ordered`` it begins when those before it are over. A callback that
    calls such a program does not wait: the program that it is part of is among those before it.
    """
    if not in_callback():
        _wait(0 if ordered else MANY)
    outs, _running[next(_number)] = execution.run_with_token(loaded, arrays, handlers)
    return outs


def expect_callbacks(client: Any) -> None:
    """Let the end of the process wait for the programs of a client, since they call Python.

    If Python ends while a thread of the runtime is about to call it, the process aborts.
    """
    _callers.add(client)


def call_with_callbacks(call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``call(*args, **kwargs)``, which C++ repeats, with the exception itself that a callback of
    its program raised."""
    try:
        return call(*args, **kwargs)
    except ValueError as error:  # C++ makes it of any exception
        failure = [exception_behind(error)]
        if failure[0] is error:
            raise
    raise failure.pop()


def _settle() -> None:
    """Wait for programs with callbacks whose results live, at the end of the process."""
    for client in [*_callers]:
        for array in client.live_arrays():
            with suppress(BaseException):  # its error was raised to those who waited
                array.block_until_ready()


def effects_barrier() -> None:
    """Wait until every effect (printing, callbacks) of programs that were called has happened.

    Raises:
        Exception: what a callback raised, unless the call of its program raised it.
    """
    _wait(0)


def _wait(left: int) -> None:
    """Wait for all but ``left`` programs; after an interrupt the next one waits again."""
    while len(_running) > left:
        number = min(_running, default=-1)
        token = _running.get(number)
        if token is None:  # another thread waited for it
            continue
        failure = execution.wait_for(token)
        _running.pop(number, None)
        if failure:
            raise failure.pop()


def _at_exit() -> None:
    _settle()
    try:
        _wait(0)
    except BaseException as e:  # the process ends: its error was raised to those who waited
        print(f"an effect of a program failed: {e}", file=sys.stderr)


atexit.register(_at_exit)
fork.in_child(_running.clear)  # they run in the parent alone
fork.in_child(_callers.clear)
