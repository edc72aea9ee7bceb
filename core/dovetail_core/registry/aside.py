"""Setting aside what does not work of a plugin, so that the rest goes on."""

from __future__ import annotations

import warnings

from dovetail_base.environment import flag
from dovetail_base.errors import PluginError


def set_aside(text: str, cause: BaseException | None = None, more: str = "") -> None:
    """Warn that something is set aside, as ``text`` and ``more`` say.

    Raises:
        PluginError: the environment sets ``DOVETAIL_STRICT``; says ``text``.
    """
    if flag("strict"):
        raise PluginError(text) from cause
    warnings.warn(text + more, RuntimeWarning, stacklevel=5)
