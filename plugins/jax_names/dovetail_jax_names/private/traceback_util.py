"""``jax._src.traceback_util``. equinox, flax, jaxtyping: they hide their frames; equinox asks which
frames are shown (``include_frame``), flax edits the list (``_exclude_paths``).
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from dovetail_core.base.source import hide_files, is_hidden, show_files

from .absent import absent

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
    """Whether tracebacks show a frame."""
    return not is_hidden(f)


def api_boundary(fun: F, **unused: Any) -> F:
    """``fun`` itself: where Python shows an exception, frames are left out then."""
    return fun


def __getattr__(name: str) -> Any:
    raise absent("jax._src.traceback_util", name)
