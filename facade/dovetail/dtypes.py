"""Element types and their promotion."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_lax.dtypes import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
