"""Source locations: the C++ stack walk, and its frames when someone wants to print them."""

from __future__ import annotations

from types import TracebackType

from ._bindings import (
    Frame as Frame,
    Traceback as Traceback,
    set_tracebacks_enabled as set_tracebacks_enabled,
)

current_traceback = Traceback.get_traceback
"""() -> Traceback | None. 0.13 us on a shallow stack; None while tracebacks are switched off."""


def frames(traceback: Traceback | None) -> list[Frame]:
    """Frames with `file_name`, `function_name`, `line_num`, innermost first; [] for None."""
    return [] if traceback is None else traceback.frames


def python_traceback(traceback: Traceback) -> TracebackType:
    """The same stack as a Python traceback, to give to `exception.with_traceback`."""
    return traceback.as_python_traceback()
