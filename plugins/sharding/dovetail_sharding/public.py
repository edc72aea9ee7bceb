"""Names of the plugin ``sharding`` in the module ``dovetail``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arrays import (
        make_array_from_callback as make_array_from_callback,
        make_array_from_process_local_data as make_array_from_process_local_data,
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from .contexts import P as P, set_mesh as set_mesh
    from .manual.mapping import shard_map as shard_map, smap as smap
    from .mesh_utils import make_mesh as make_mesh
    from .pmap import pmap as pmap
    from .settings import (
        auto_pcast as auto_pcast,
        remove_size_one_mesh_axis_from_type as remove_size_one_mesh_axis_from_type,
    )
    from .shardy import NamedSharding as NamedSharding
    from .types.resharding import reshard as reshard
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
