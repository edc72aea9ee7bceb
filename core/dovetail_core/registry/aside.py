"""Warnings about parts of plugins that do not work and are set aside, so that the rest does."""

from __future__ import annotations

import warnings

from dovetail_base.environment import flag
from dovetail_base.errors import PluginError


def set_aside(text: str, cause: BaseException | None = None, more: str = "") -> None:
    """Warn with ``text`` and ``more`` that a part of a plugin is set aside.

    Raises:
        PluginError: the environment sets ``DOVETAIL_STRICT``; its message is ``text``.
    """
    if flag("strict"):
        raise PluginError(text) from cause
    warnings.warn(text + more, RuntimeWarning, stacklevel=5)
