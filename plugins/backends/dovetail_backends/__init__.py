"""Backends: CPU, CUDA, ROCm and TPU through PJRT, and the NumPy reference.

Names are imported when they are first used, so that reading the manifest costs nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .array import (
        check_usable as check_usable,
        deleted_error as deleted_error,
        release_donated as release_donated,
        value_of as value_of,
    )
    from .array.copying import rebuild as rebuild
    from .array.layouts import (
        any_custom_layout as any_custom_layout,
        has_layout as has_layout,
        in_default_layout as in_default_layout,
        is_default_order as is_default_order,
        layout_text as layout_text,
        note_custom_layout as note_custom_layout,
        with_layout as with_layout,
    )
    from .array.shards import devices_indices_map as devices_indices_map
    from .dlpack import from_dlpack as from_dlpack
    from .exact import evaluate_exactly as evaluate_exactly, is_exact as is_exact
    from .formats import (
        AutoLayout as AutoLayout,
        Format as Format,
        Layout as Layout,
        check_order as check_order,
    )
    from .pjrt.annotations import annotate_value as annotate_value
    from .pjrt.attributes import (
        Attribute as Attribute,
        bool_array as bool_array,
        boolean as boolean,
        convolution as convolution,
        dense_array as dense_array,
        dictionary as dictionary,
        enum as enum,
        floating as floating,
        i32 as i32,
        i64 as i64,
        i64_array as i64_array,
        i64_dense as i64_dense,
        integer as integer,
        layouts as layouts,
        operand_aliases as operand_aliases,
        record as record,
        sequence as sequence,
        string as string,
        symbol as symbol,
        type_attribute as type_attribute,
    )
    from .pjrt.backend import (
        PjrtBackend as PjrtBackend,
        backend_of as backend_of,
        started_backends as started_backends,
    )
    from .pjrt.bindings import (
        MlirFunction as MlirFunction,
        mlir_rule as mlir_rule,
        module_text as module_text,
    )
    from .pjrt.builder import Builder as Builder
    from .pjrt.diagnostics import explain_failure as explain_failure
    from .pjrt.emitter import ModuleText as ModuleText, Val as Val
    from .pjrt.module import (
        InPlace as InPlace,
        Layouts as Layouts,
        LoweredModule as LoweredModule,
        host_constant as host_constant,
        lower_module as lower_module,
    )
    from .pjrt.partition import (
        AbsentDevice as AbsentDevice,
        AbsentDevices as AbsentDevices,
        Grid as Grid,
        Partition as Partition,
        first_device as first_device,
        shardings_of as shardings_of,
    )
    from .pjrt.text import dense as dense, element_type as element_type, tensor_type as tensor_type
    from .placement import (
        asarray_in as asarray_in,
        asarray_on as asarray_on,
        device_put_p as device_put_p,
        put_host as put_host,
        rows_on_host as rows_on_host,
        sharding_constraint_p as sharding_constraint_p,
    )
    from .public import *  # noqa: F403
    from .reference import evaluate as evaluate
    from .reference_devices import (
        gathered_values as gathered_values,
        position_along as position_along,
        run_on_devices as run_on_devices,
    )
    from .rules.stablehlo import elementwise as elementwise
    from .selection import (
        Backend as Backend,
        backend as backend,
        refuse_unsupported_dtypes as refuse_unsupported_dtypes,
        runs_programs as runs_programs,
        target_device as target_device,
    )
    from .tables import (
        FAMILIES as FAMILIES,
        Effort as Effort,
        ReferenceRule as ReferenceRule,
        StablehloRule as StablehloRule,
        reference_rules as reference_rules,
        stablehlo_rules as stablehlo_rules,
    )
    from .transfer import put_on as put_on
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
