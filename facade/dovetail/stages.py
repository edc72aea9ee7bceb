"""The stages from function to executable, for annotations and to look at."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_jit.stages import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
