"""Backends: CPU, CUDA, ROCm and TPU through PJRT, and the NumPy reference.

Names are imported when they are first used, so that reading the manifest costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dovetail_core import hide_frames as _hide_frames

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
    from .pjrt.module import LoweredModule as LoweredModule, lower_module as lower_module
    from .placement import (
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
        target_device as target_device,
    )
    from .tables import (
        ReferenceRule as ReferenceRule,
        StablehloRule as StablehloRule,
        reference_rules as reference_rules,
        stablehlo_rules as stablehlo_rules,
    )

_hide_frames(__file__.rpartition("/")[0])

_MODULES = {
    "array": "Array Shard check_usable deleted_error give_away value_of",
    "dlpack": "from_dlpack",
    "pjrt.backend": "PjrtBackend backend_of",
    "pjrt.module": "LoweredModule lower_module",
    "placement": (
        "asarray_on block_until_ready copy_to_host_async device_get device_put device_put_p "
        "live_arrays put_host"
    ),
    "reference": "evaluate",
    "selection": "Backend backend target_device",
    "tables": "ReferenceRule StablehloRule reference_rules stablehlo_rules",
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = value
    return value
