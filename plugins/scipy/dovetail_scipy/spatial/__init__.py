"""Geometry in space."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import transform as transform
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
