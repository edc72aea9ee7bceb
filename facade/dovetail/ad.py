"""Destinations of cotangents for ``vjp(...)[1].with_refs``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_ad.cotangent_markers import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
