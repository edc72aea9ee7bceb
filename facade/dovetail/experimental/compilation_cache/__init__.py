"""The on-disk compilation cache."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import compilation_cache as compilation_cache
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
