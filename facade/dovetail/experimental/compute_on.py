"""The device part that operations run on."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.compute_on import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
