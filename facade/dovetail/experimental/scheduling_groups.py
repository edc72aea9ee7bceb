"""Groups of operations that XLA schedules together."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_experimental.scheduling_groups import *
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
