"""Calls of plugins' code, which may fail in any way, while the program goes on.

What does not work is disabled with a warning. That does not help against code that never returns,
that ends the process itself (``os._exit``, a crash in C), or that changes state that others rely
on: ``DOVETAIL_DISABLE_PLUGINS`` disables it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .environment import PREFIX, flag, settings
from .errors import PluginError
from .lazy import import_part


def disable_with_warning(text: str, cause: BaseException | None = None, more: str = "") -> None:
    """Warn with ``text`` and ``more`` that a part of a plugin is set aside.

    Raises:
        PluginError: the environment sets ``DOVETAIL_STRICT``; its message is ``text``.
    """
    if flag("strict"):
        raise PluginError(text) from cause
    warnings.warn(text + more, RuntimeWarning, stacklevel=5)


T = TypeVar("T")


def attempt(
    run: Callable[[], T], whose: str, standard: bool = False
) -> tuple[T | None, BaseException | None]:
    """The result of ``run()``, and None; or None, and the error that it raised.

    State of the process that plugins must not change is restored, with a warning: filters that turn
    warnings into errors, Dovetail's environment variables, and the recursion limit.

    Args:
        whose: ``plugin 'acme' of acme-dist 1.0``.
        standard: True for plugins that come with Dovetail, which do not change that state.

    Raises:
        BaseException: errors that are not the plugin's fault (see :func:`is_users`).
    """
    before = None if standard else _State()
    try:
        result, error = run(), None
    except BaseException as e:
        if is_users(e):
            raise
        result, error = None, e
    finally:
        changed = [] if before is None else before.put_back()
    if changed:
        disable_with_warning(
            f"importing {whose} changes {' and '.join(changed)}: that is undone. Correct the "
            "plugin, or disable it (DOVETAIL_DISABLE_PLUGINS)."
        )
    return result, error


def is_users(error: BaseException) -> bool:
    """Return whether an error is not the plugin's fault: an interrupt by the user, or a recursion
    that was deep before the plugin was called."""
    if isinstance(error, RecursionError):
        return _depth() > sys.getrecursionlimit() // 2
    return isinstance(error, KeyboardInterrupt)


def _depth() -> int:
    frame, n = sys._getframe(), 0  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        frame, n = frame.f_back, n + 1
    return n


def spell(error: BaseException) -> str:
    """The text of an error in messages: its type and message, in one line of bounded length."""
    kind = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except BaseException as e:  # an exception's own methods may fail, too
        if is_users(e):
            raise
        text = "(it cannot be printed)"
    text = text.encode(errors="backslashreplace").decode()[:500]
    if isinstance(error, ImportError) and str(error.name).startswith("dovetail_core."):
        text += " (the page reference/what_moved of the documentation has the present names)"
    return f"{kind}: {text}" if text else kind


class _State:
    """State of the process that plugins must not change, recorded before a plugin's code runs."""

    def __init__(self) -> None:
        self.settings = settings()
        self.limit = sys.getrecursionlimit()
        self.filters = [*warnings.filters]

    def put_back(self) -> list[str]:
        """Undo changes; returns what had changed."""
        changed: list[str] = []
        if sys.getrecursionlimit() != self.limit:
            sys.setrecursionlimit(self.limit)
            changed.append("the recursion limit")
        if (now := settings()) != self.settings:
            for name in now.keys() | self.settings.keys():
                _set_variable(name, self.settings.get(name))
            changed.append(f"environment variables ({PREFIX}...)")
        if self._drop_errors():
            changed.append("warnings into errors")
        return changed

    def _drop_errors(self) -> bool:
        filters = cast("list[Any]", warnings.filters)
        # Libraries add filters for warnings of their own, which stay; none makes them errors.
        added = [f for f in filters if f not in self.filters]
        kept = [f for f in filters if f in self.filters]
        moved = [f for f in kept if kept.index(f) < self.filters.index(f)]
        harmful = any(f[0] == "error" for f in (*added, *moved))
        if harmful:
            filters[:] = [*(f for f in added if f[0] != "error"), *self.filters]
            with warnings.catch_warnings():  # makes Python forget what it remembers of filters
                pass
        return harmful


def _set_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


class Unfinished(Exception):
    """A module cannot be imported now, because an import that has begun must end first."""


def import_completely(name: str) -> None:
    """Import a module of a plugin.

    Raises:
        Unfinished: it, or its package, is being imported: by a caller in this thread, or by another
            thread that waits for this one. That is no error of the plugin; try again later.
        BaseException: whatever the module raises.
    """
    try:
        import_part(name)
    except Exception as e:
        if type(e).__name__ == "_DeadlockError" or _is_importing(name.partition(".")[0]):
            raise Unfinished(name) from e
        raise
    if _initialising(sys.modules.get(name)):
        raise Unfinished(name)


def _is_importing(package: str) -> bool:
    """Return whether the import of any module of a package has begun and not ended."""
    result = [m for n, m in [*sys.modules.items()] if n.partition(".")[0] == package]
    return any(map(_initialising, result))


def _initialising(module: Any) -> bool:
    return getattr(getattr(module, "__spec__", None), "_initializing", False)
