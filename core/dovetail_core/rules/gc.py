"""Python's garbage collector while a program is traced.

Tracing makes several objects per operation, nearly all of which stay. Python's default, a
collection after every 700 new objects, then costs a third of the time (measured: 5.6 against 3.6
microseconds per operation in a program of 48,000) and finds nothing. While anything is traced,
collections of the youngest objects wait for 20,000.
"""

from __future__ import annotations

import gc

PATIENT = 20_000


def start_tracing(before: tuple[int, int, int]) -> None:
    """A trace begins: make the collector wait, unless it waits so long anyway."""
    if 0 < before[0] < PATIENT:
        gc.set_threshold(PATIENT, *before[1:])


def end_tracing(before: tuple[int, int, int]) -> None:
    """A trace is over: put back what was there before, unless somebody changed it meanwhile.

    Where threads trace at once, the first of them to begin does so; the others are slower then.
    """
    if 0 < before[0] < PATIENT and gc.get_threshold() == (PATIENT, *before[1:]):
        gc.set_threshold(*before)
