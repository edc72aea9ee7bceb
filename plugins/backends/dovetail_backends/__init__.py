"""Backends: CPU, CUDA, ROCm and TPU through PJRT, and the NumPy reference.

Names are imported when they are first used, so that reading the manifest costs nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .array import (
        Array as Array,
        Shard as Shard,
        check_usable as check_usable,
        deleted_error as deleted_error,
        give_away as give_away,
        value_of as value_of,
    )
    from .dlpack import from_dlpack as from_dlpack
    from .pjrt.backend import PjrtBackend as PjrtBackend, backend_of as backend_of
    from .pjrt.blame import explain_failure as explain_failure
    from .pjrt.module import (
        InPlace as InPlace,
        LoweredModule as LoweredModule,
        lower_module as lower_module,
    )
    from .placement import (
        Device as Device,
        asarray_on as asarray_on,
        block_until_ready as block_until_ready,
        copy_to_host_async as copy_to_host_async,
        device_get as device_get,
        device_put as device_put,
        device_put_p as device_put_p,
        live_arrays as live_arrays,
        put_host as put_host,
    )
    from .reference import evaluate as evaluate
    from .selection import (
        Backend as Backend,
        backend as backend,
        default_device as default_device,
        target_device as target_device,
    )
    from .tables import (
        ReferenceRule as ReferenceRule,
        StablehloRule as StablehloRule,
        reference_rules as reference_rules,
        stablehlo_rules as stablehlo_rules,
    )
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

__all__ = [
    "Array",
    "Device",
    "Shard",
    "block_until_ready",
    "copy_to_host_async",
    "default_backend",
    "default_device",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "process_count",
    "process_index",
    "process_indices",
]
