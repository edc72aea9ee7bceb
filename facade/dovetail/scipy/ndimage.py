"""Images of any number of dimensions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.ndimage import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
