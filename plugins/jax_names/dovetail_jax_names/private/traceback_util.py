"""``jax._src.traceback_util``. equinox, flax, jaxtyping: they hide their frames; equinox asks which
frames are shown (``include_frame``), flax edits the list (``_exclude_paths``) and says which of its
functions users call (``api_boundary``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from traceback import walk_tb
from types import FrameType
from typing import Any, TypeVar, cast

from dovetail_base.source import hide_files, is_hidden, show_files, without_hidden
from dovetail_core import config

from ..absent_names import public

F = TypeVar("F", bound=Callable[..., Any])


class _Paths(list[str]):
    """Beginnings of paths of files that tracebacks and source locations leave out."""

    def append(self, path: str) -> None:
        super().append(path)
        hide_files(path)

    def remove(self, path: str) -> None:
        super().remove(path)
        if path not in self:
            show_files(path)


_exclude_paths = _Paths()


def register_exclusion(path: str) -> None:
    """Hide the frames of a file, or of those below a folder."""
    _exclude_paths.append(path)


def include_frame(f: FrameType) -> bool:
    """True if tracebacks show a frame."""
    return not is_hidden(f)


class UnfilteredStackTrace(Exception):
    """The cause of an exception whose traceback lacks frames; its own has them all."""


def api_boundary(fun: F, **unused: Any) -> F:
    """``fun``, whose exceptions have no hidden frames in their tracebacks as they leave the
    outermost such function, where the option ``traceback_filtering`` says ``"remove_frames"`` or
    ``"quiet_remove_frames"``; where it says ``"tracebackhide"``, hidden frames say that they are.

    In the mode ``"auto"`` frames are left out where Python shows an exception.
    """

    @wraps(fun)
    def boundary(*args: Any, **kwargs: Any) -> Any:
        try:
            return fun(*args, **kwargs)
        except Exception as e:
            mode = config.read("traceback_filtering")
            if mode not in _FILTERS or _is_within(sys._getframe(1)):
                raise
            _FILTERS[mode](e)
            raise

    return boundary  # type: ignore[return-value]


_BOUNDARY: Any = cast(Any, api_boundary(len)).__code__


def _is_within(frame: FrameType | None) -> bool:
    """True if a caller is such a function, too."""
    while frame is not None:
        if frame.f_code is _BOUNDARY:
            return True
        frame = frame.f_back
    return False


def _mark(error: BaseException) -> None:
    for frame, _ in walk_tb(error.__traceback__):
        if is_hidden(frame):
            frame.f_locals["__tracebackhide__"] = True


def _remove(error: BaseException) -> None:
    """All frames are in the traceback of the cause."""
    full = UnfilteredStackTrace(f"{type(error).__name__}: {error}, with all frames")
    full.__cause__, full.__suppress_context__ = error.__cause__, error.__suppress_context__
    full.__context__ = error.__context__
    full.__traceback__ = error.__traceback__
    error.__traceback__ = without_hidden(error.__traceback__)
    error.__cause__ = full


def _remove_quietly(error: BaseException) -> None:
    count = sum(is_hidden(frame) for frame, _ in walk_tb(error.__traceback__))
    error.__traceback__ = without_hidden(error.__traceback__)
    error.add_note(f"({count} frames left out; jax_traceback_filtering='off' keeps them.)")


_FILTERS = {
    "tracebackhide": _mark, "remove_frames": _remove, "quiet_remove_frames": _remove_quietly,
}  # fmt: skip


def __getattr__(name: str) -> Any:
    return public("jax._src.traceback_util", name)
