"""Rotations in space, and their interpolation."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.spatial.transform.rotations import Rotation as Rotation, Slerp as Slerp
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
