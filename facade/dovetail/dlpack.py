"""Arrays of other libraries, taken over without a copy."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_backends.dlpack import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
