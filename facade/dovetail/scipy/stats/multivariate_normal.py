"""The normal distribution of vectors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.stats.multivariate_normal import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
