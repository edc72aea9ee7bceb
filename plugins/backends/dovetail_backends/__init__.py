"""Backends: CPU, CUDA, ROCm and TPU through PJRT, and the NumPy reference."""

from dovetail_core import hide_frames as _hide_frames

_hide_frames(__file__.rpartition("/")[0])

from .array import (  # noqa: E402
    Array as Array,
    Shard as Shard,
    check_usable as check_usable,
    deleted_error as deleted_error,
    value_of as value_of,
)
from .dlpack import from_dlpack as from_dlpack  # noqa: E402
from .pjrt.backend import PjrtBackend as PjrtBackend, backend_of as backend_of  # noqa: E402
from .pjrt.module import LoweredModule as LoweredModule, lower_module as lower_module  # noqa: E402
from .placement import (  # noqa: E402
    asarray_on as asarray_on,
    block_until_ready as block_until_ready,
    copy_to_host_async as copy_to_host_async,
    device_get as device_get,
    device_put as device_put,
    device_put_p as device_put_p,
    live_arrays as live_arrays,
    put_host as put_host,
)
from .reference import evaluate as evaluate  # noqa: E402
from .selection import (  # noqa: E402
    Backend as Backend,
    backend as backend,
    target_device as target_device,
)
from .tables import (  # noqa: E402
    ReferenceRule as ReferenceRule,
    StablehloRule as StablehloRule,
    reference_rules as reference_rules,
    stablehlo_rules as stablehlo_rules,
)
