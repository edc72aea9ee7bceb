"""The normal distribution between ``a`` and ``b``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.stats.truncnorm import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
