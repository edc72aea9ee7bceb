"""Looking at values while a program runs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_callbacks.breakpoints import breakpoint as breakpoint
    from dovetail_callbacks.debug import *
else:
    from dovetail_core import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
