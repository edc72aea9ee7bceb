"""Functions that say themselves how they are divided among devices."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_sharding.experimental.custom_partitioning import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
