"""Types for annotations of functions of arrays."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_numpy.typing import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
