"""Python functions that write their results into the program's memory."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_callbacks.buffers import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
