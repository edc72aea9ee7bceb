"""Rotations in space, and their interpolation."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.spatial.transform import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
