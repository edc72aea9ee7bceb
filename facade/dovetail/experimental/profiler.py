"""Profiles as XLA takes them to schedule programs by."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.profiler import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
