"""Who asks for a promotion: a user, to whom the options of promotion apply, or the library's code.

The options ``numpy_rank_promotion`` and ``numpy_dtype_promotion`` are about users' programs.
Functions of plugins that build on this one (``scipy``, ``random``, ...) promote values of their
own, and users could not change that. What such a function says of its own arguments, by calling
``promote`` or ``check_ranks`` itself, is said on the user's behalf.
"""

from __future__ import annotations

import sys
from types import FrameType

from dovetail_base.source import is_hidden
from dovetail_core import registry

_PROMOTING = (__name__, "dovetail_numpy.promotion", "dovetail_numpy.rank_promotion")
"""Modules through which all promotions go."""


def asked_by_library() -> bool:
    """Whether the nearest code that is neither this plugin's nor the framework's machinery belongs
    to a plugin that builds on this one. It reads the stack: ask where an option is set alone."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__") in _PROMOTING:
        frame = frame.f_back
    directly, building = True, _building_on_this()
    while frame is not None and is_hidden(frame):
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in building:
            return not directly
        directly = False
        frame = frame.f_back
    return False


def _building_on_this() -> set[str]:
    """The packages of plugins that require this one."""
    plugins = registry().plugins.values()
    needing = [p for p in plugins if p.manifest is not None and "numpy" in p.manifest.requires]
    return {p.target.partition(":")[0].partition(".")[0] for p in needing}
