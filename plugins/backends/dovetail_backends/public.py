"""What ``dovetail`` itself has of the plugin ``backends``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .array import Array as Array, Shard as Shard
    from .placement import (
        Device as Device,
        block_until_ready as block_until_ready,
        copy_to_host_async as copy_to_host_async,
        device_get as device_get,
        device_put as device_put,
        live_arrays as live_arrays,
    )
    from .selection import default_device as default_device
    from .topology import (
        default_backend as default_backend,
        device_count as device_count,
        devices as devices,
        local_device_count as local_device_count,
        local_devices as local_devices,
        process_count as process_count,
        process_index as process_index,
        process_indices as process_indices,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
