"""Setting aside what does not work of a plugin, so that the rest goes on."""

from __future__ import annotations

import os
import warnings

from ..base.errors import PluginError


def set_aside(text: str, cause: BaseException | None = None, more: str = "") -> None:
    """Warn that something is set aside, as ``text`` and ``more`` say.

    Raises:
        PluginError: ``DOVETAIL_STRICT=1`` is set; says ``text``.
    """
    if os.environ.get("DOVETAIL_STRICT") == "1":
        raise PluginError(text) from cause
    warnings.warn(text + more, RuntimeWarning, stacklevel=5)
