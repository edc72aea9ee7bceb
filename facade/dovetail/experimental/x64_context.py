"""64-bit types within a ``with`` statement."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.x64_context import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
