"""A plugin that is built against version 1 of the kernel's interface."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .depends import depends as depends
    from .pair import Pair as Pair
    from .primitives import rotate as rotate
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
