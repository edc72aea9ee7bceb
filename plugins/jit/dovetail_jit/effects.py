"""Runs of programs that do something to the world: their order, and waiting for their end."""

from __future__ import annotations

import atexit
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from dovetail_core.xla import execution
from dovetail_core.xla.callbacks import in_callback

_running: deque[Any] = deque()
MANY = 32
"""How many programs with effects may be on their way."""


def run_with_effects(
    loaded: Any, arrays: Sequence[Any], handlers: Sequence[Any], ordered: bool
) -> list[Any]:
    """``execution.run`` of a program with effects, remembered for :func:`effects_barrier`.

    It begins when those before it are over where its own effects are ``ordered``. A callback that
    calls such a program does not wait: the program that it is part of is among those before it.
    """
    if not in_callback():
        _wait(0 if ordered else MANY)
    outs, token = execution.run_with_token(loaded, arrays, handlers)
    _running.append(token)
    return outs


def effects_barrier() -> None:
    """Wait until every effect (printing, callbacks) of programs that were called has happened.

    Raises:
        XlaRuntimeError: a callback raised an exception; its traceback is in the text.
    """
    _wait(0)


def _wait(left: int) -> None:
    while len(_running) > left:
        try:
            token = _running.popleft()
        except IndexError:  # another thread waits for it
            return
        token.block_until_ready()


def _at_exit() -> None:
    try:
        _wait(0)
    except Exception as e:  # the process ends: whoever wanted to know has waited
        print(f"an effect of a program failed: {e}", file=sys.stderr)


atexit.register(_at_exit)
