"""Names of the plugin ``backends`` in the module ``dovetail``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .array import Array as Array, Shard as Shard
    from .guards import (
        array_garbage_collection_guard as array_garbage_collection_guard,
        thread_guard as thread_guard,
        transfer_guard as transfer_guard,
        transfer_guard_device_to_device as transfer_guard_device_to_device,
        transfer_guard_device_to_host as transfer_guard_device_to_host,
        transfer_guard_host_to_device as transfer_guard_host_to_device,
    )
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
        host_count as host_count,
        host_id as host_id,
        host_ids as host_ids,
        local_device_count as local_device_count,
        local_devices as local_devices,
        print_environment_info as print_environment_info,
        process_count as process_count,
        process_index as process_index,
        process_indices as process_indices,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
