"""Linear algebra that asks of a matrix only its products with vectors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import linalg as linalg
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
