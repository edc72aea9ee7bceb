"""Profiles: traces for XProf and Perfetto, and what is in the memory of devices."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_profiler import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
