"""Names that live here for the sake of existing programs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_callbacks.experimental import *
    from dovetail_hijax import cur_qdd as cur_qdd

    from . import (
        buffer_callback as buffer_callback,
        checkify as checkify,
        compilation_cache as compilation_cache,
        compute_on as compute_on,
        custom_partitioning as custom_partitioning,
        jet as jet,
        layout as layout,
        mesh_utils as mesh_utils,
        multihost_utils as multihost_utils,
        ode as ode,
        profiler as profiler,
        random as random,
        roofline as roofline,
        scheduling_groups as scheduling_groups,
        serialize_executable as serialize_executable,
        shard_alike as shard_alike,
        shard_map as shard_map,
        sparse as sparse,
        topologies as topologies,
        x64_context as x64_context,
        xla_metadata as xla_metadata,
    )
else:
    from dovetail_surface import surface as _surface

    __getattr__, __dir__ = _surface(__name__)
