"""The binomial distribution."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.stats.binom import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
