"""Sparse arrays."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_sparse import *

    from . import linalg as linalg
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
