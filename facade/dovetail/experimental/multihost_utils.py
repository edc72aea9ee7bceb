"""Values that several processes have in common."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_distributed.multihost import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
