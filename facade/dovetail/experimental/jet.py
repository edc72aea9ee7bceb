"""Taylor mode: derivatives of any order along paths, in one pass."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.jet import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
