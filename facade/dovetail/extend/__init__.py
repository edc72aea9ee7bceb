"""Interfaces for libraries that extend this one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import random as random
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
