"""The Gumbel distribution of the largest of many numbers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.stats.gumbel_r import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
