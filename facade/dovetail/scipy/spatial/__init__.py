"""Geometry in space."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import transform as transform
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
