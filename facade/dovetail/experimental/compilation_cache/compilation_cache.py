"""The on-disk compilation cache by functions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.compilation_cache.compilation_cache import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
