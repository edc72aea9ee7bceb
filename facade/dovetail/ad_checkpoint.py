"""Rematerialisation, by JAX's names and beyond them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_remat.ad_checkpoint import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
