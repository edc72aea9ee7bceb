"""Programs of several processes: their start and their end, and what they know of each other."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_distributed import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
