"""The option ``traceback_filtering``: tracebacks of uncaught exceptions without Dovetail's frames.

Exceptions keep their tracebacks; frames are left out when Python or IPython shows them. So nothing
is installed, and no call is slower, until the option is set.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from traceback import StackSummary, TracebackException, walk_tb
from types import FrameType, TracebackType
from typing import Any

from dovetail_base.environment import one_of
from dovetail_base.source import is_hidden, without_hidden
from dovetail_core import Option, config

MODES = ("off", "auto", "tracebackhide", "remove_frames", "quiet_remove_frames")


class _Filtering(Option):
    """An option that installs a hook when it is set; the hook reads the mode when it is called."""

    def _valid(self, value: Any, from_variable: str = "") -> Any:
        mode = super()._valid(value, from_variable)
        if mode != "off":
            _install()
        return mode


def without_frames(error: BaseException) -> tuple[str, int]:
    """The text that Python shows for ``error`` without the framework's frames, and their number.

    Causes and contexts of the exception are shown in the same way.
    """
    shown = TracebackException.from_exception(error)
    count = _filter(shown, error)
    return "".join(shown.format()), count


def _filter(shown: Any, error: BaseException | None) -> int:
    if shown is None or error is None:
        return 0
    hidden = [is_hidden(frame) for frame, _ in walk_tb(error.__traceback__)]
    count = sum(hidden)
    if count == len(hidden) or len(hidden) != len(shown.stack):
        count = 0  # all frames are the framework's, or Python itself has left out some
    elif count:
        kept = [f for f, h in zip(shown.stack, hidden) if not h]
        shown.stack = StackSummary.from_list(kept)
    count += _filter(shown.__cause__, error.__cause__)
    count += _filter(shown.__context__, error.__context__)
    for part, inner in zip(shown.exceptions or (), getattr(error, "exceptions", ())):
        count += _filter(part, inner)
    return count


def _note(count: int) -> str:
    frames = "1 frame" if count == 1 else f"{count} frames"
    return f"({frames} of Dovetail left out; traceback_filtering='off' shows all.)\n"


Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]
_before: list[Hook] = []


def _show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """The hook that replaces ``sys.excepthook``."""
    mode = traceback_filtering.value
    text, count = without_frames(error) if isinstance(error, Exception) else ("", 0)
    if mode in ("off", "tracebackhide") or not count:
        _before[0](kind, error, traceback)
        return
    if mode == "remove_frames":
        _before[0](kind, error, traceback)
        text = f"\nThe same without frames of Dovetail:\n\n{text}"
    print(text + _note(count), end="", file=sys.stderr)


def _install() -> None:
    if not _before:
        _before.append(sys.excepthook)
        sys.excepthook = _show
    shell = _shell()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_in_shell)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _show_in_shell(
    shell: Any, kind: Any, error: BaseException, traceback: Any, tb_offset: Any = None
) -> None:
    """Show an exception in IPython, which skips marked frames; in other modes remove them first."""
    mode = traceback_filtering.value
    if mode in ("auto", "tracebackhide"):
        for frame in _hidden_in(error):
            frame.f_locals["__tracebackhide__"] = True
    elif mode != "off":
        if mode == "remove_frames":
            shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        traceback = without_hidden(traceback)
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def _hidden_in(error: BaseException | None) -> list[FrameType]:
    result: list[FrameType] = []
    while error is not None:
        result += [f for f, _ in walk_tb(error.__traceback__) if is_hidden(f)]
        error = error.__cause__ or error.__context__
    return result


traceback_filtering = config.add(
    _Filtering(
        "traceback_filtering",
        "off",
        "Whether frames of Dovetail are left out where Python or IPython shows an exception.",
        check=one_of(MODES),
    )
)
