"""Looking at values while a program runs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_callbacks.breakpoints import breakpoint as breakpoint
    from dovetail_callbacks.debug import *
    from dovetail_sharding.inspecting import inspect_array_sharding as inspect_array_sharding
    from dovetail_sharding.visualizing import (
        visualize_array_sharding as visualize_array_sharding,
        visualize_sharding as visualize_sharding,
    )
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
