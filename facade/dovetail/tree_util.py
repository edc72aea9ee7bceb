"""Functions of pytrees, their registration and their keys."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_tree.util import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
