"""Control flow: branches, loops, and what depends on the platform."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .branches import cond as cond, platform_dependent as platform_dependent, switch as switch
    from .loops import fori_loop as fori_loop, while_loop as while_loop
    from .scanning import map as map, scan as scan
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
