"""Backends: CPU, CUDA, ROCm and TPU through PJRT, and the NumPy reference.

Names are imported when they are first used, so that reading the manifest costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.base.lazy import lazy_exports as _lazy_exports

if TYPE_CHECKING:
    from .array import (
        Array as Array,
        Shard as Shard,
        check_usable as check_usable,
        deleted_error as deleted_error,
        give_away as give_away,
        value_of as value_of,
    )
    from .dlpack import (
        from_dlpack as from_dlpack,
    )
    from .pjrt.backend import (
        PjrtBackend as PjrtBackend,
        backend_of as backend_of,
    )
    from .pjrt.diagnostics import (
        explain_failure as explain_failure,
    )
    from .pjrt.module import (
        InPlace as InPlace,
        LoweredModule as LoweredModule,
        lower_module as lower_module,
    )
    from .placement import (
        asarray_on as asarray_on,
        block_until_ready as block_until_ready,
        copy_to_host_async as copy_to_host_async,
        device_get as device_get,
        device_put as device_put,
        device_put_p as device_put_p,
        live_arrays as live_arrays,
        put_host as put_host,
        rows_on_host as rows_on_host,
    )
    from .reference import (
        evaluate as evaluate,
    )
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

# Written by tools/make_lazy.py from the imports above.
_WHERE = {
    "Array": "array",
    "Backend": "selection",
    "InPlace": "pjrt.module",
    "LoweredModule": "pjrt.module",
    "PjrtBackend": "pjrt.backend",
    "ReferenceRule": "tables",
    "Shard": "array",
    "StablehloRule": "tables",
    "asarray_on": "placement",
    "backend": "selection",
    "backend_of": "pjrt.backend",
    "block_until_ready": "placement",
    "check_usable": "array",
    "copy_to_host_async": "placement",
    "deleted_error": "array",
    "device_get": "placement",
    "device_put": "placement",
    "device_put_p": "placement",
    "evaluate": "reference",
    "explain_failure": "pjrt.diagnostics",
    "from_dlpack": "dlpack",
    "give_away": "array",
    "live_arrays": "placement",
    "lower_module": "pjrt.module",
    "put_host": "placement",
    "reference_rules": "tables",
    "rows_on_host": "placement",
    "stablehlo_rules": "tables",
    "target_device": "selection",
    "value_of": "array",
}
__all__ = [
    "Array",
    "Backend",
    "LoweredModule",
    "PjrtBackend",
    "ReferenceRule",
    "Shard",
    "StablehloRule",
    "asarray_on",
    "backend",
    "backend_of",
    "block_until_ready",
    "check_usable",
    "copy_to_host_async",
    "deleted_error",
    "device_get",
    "device_put",
    "device_put_p",
    "evaluate",
    "explain_failure",
    "from_dlpack",
    "give_away",
    "live_arrays",
    "lower_module",
    "put_host",
    "reference_rules",
    "stablehlo_rules",
    "target_device",
    "value_of",
]

__getattr__ = _lazy_exports(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
