"""Names that live here for the sake of existing programs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_callbacks.experimental import *

    from . import (
        buffer_callback as buffer_callback,
        checkify as checkify,
        compilation_cache as compilation_cache,
        compute_on as compute_on,
        jet as jet,
        layout as layout,
        mesh_utils as mesh_utils,
        multihost_utils as multihost_utils,
        ode as ode,
        profiler as profiler,
        random as random,
        roofline as roofline,
        scheduling_groups as scheduling_groups,
        shard_map as shard_map,
        sparse as sparse,
        x64_context as x64_context,
        xla_metadata as xla_metadata,
    )
else:
    from dovetail_core import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
