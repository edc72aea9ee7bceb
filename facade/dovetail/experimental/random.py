"""Random numbers from a generator that has a state."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.random import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
