"""High types and primitives: values made of arrays that transformations see whole."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_hijax import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
