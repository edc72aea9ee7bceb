"""Dovetail: what users import. Every name is loaded on first use (PEP 562)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_ad import (
        grad as grad,
        hessian as hessian,
        jacfwd as jacfwd,
        jacrev as jacrev,
        jvp as jvp,
        linear_transpose as linear_transpose,
        linearize as linearize,
        value_and_grad as value_and_grad,
        vjp as vjp,
    )
    from dovetail_backends.array import Array as Array, Shard as Shard
    from dovetail_backends.devices import (
        default_backend as default_backend,
        device_count as device_count,
        devices as devices,
        local_device_count as local_device_count,
        local_devices as local_devices,
        process_count as process_count,
        process_index as process_index,
        process_indices as process_indices,
    )
    from dovetail_backends.placement import (
        Device as Device,
        block_until_ready as block_until_ready,
        copy_to_host_async as copy_to_host_async,
        device_get as device_get,
        device_put as device_put,
        live_arrays as live_arrays,
    )
    from dovetail_backends.selection import default_device as default_device
    from dovetail_batching import vmap as vmap
    from dovetail_core.context import config as config, enable_x64 as enable_x64
    from dovetail_core.source import named_scope as named_scope
    from dovetail_core.types import float0 as float0, typeof as typeof
    from dovetail_jit import (
        ShapeDtypeStruct as ShapeDtypeStruct,
        clear_caches as clear_caches,
        disable_jit as disable_jit,
        ensure_compile_time_eval as ensure_compile_time_eval,
        eval_shape as eval_shape,
        jit as jit,
        make_jaxpr as make_jaxpr,
    )
    from dovetail_lax.dtypes import numpy_dtype_promotion as numpy_dtype_promotion
    from dovetail_random.options import (
        default_prng_impl as default_prng_impl,
        threefry_partitionable as threefry_partitionable,
    )
    from dovetail_remat import (
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        checkpoint_policies as checkpoint_policies,
        remat as remat,
    )

    from . import (
        dlpack as dlpack,
        dtypes as dtypes,
        errors as errors,
        lax as lax,
        nn as nn,
        numpy as numpy,
        random as random,
        test_util as test_util,
        tree as tree,
        tree_util as tree_util,
    )

__version__ = "0.1.0"
_WHERE = {
    "Array": ("backends", "dovetail_backends.array:Array"),
    "Device": ("backends", "dovetail_backends.placement:Device"),
    "ShapeDtypeStruct": ("jit", "dovetail_jit:ShapeDtypeStruct"),
    "Shard": ("backends", "dovetail_backends.array:Shard"),
    "block_until_ready": ("backends", "dovetail_backends.placement:block_until_ready"),
    "checkpoint": ("remat", "dovetail_remat:checkpoint"),
    "checkpoint_name": ("remat", "dovetail_remat:checkpoint_name"),
    "checkpoint_policies": ("remat", "dovetail_remat:checkpoint_policies"),
    "clear_caches": ("jit", "dovetail_jit:clear_caches"),
    "config": ("kernel", "dovetail_core.context:config"),
    "copy_to_host_async": ("backends", "dovetail_backends.placement:copy_to_host_async"),
    "default_backend": ("backends", "dovetail_backends.devices:default_backend"),
    "default_device": ("backends", "dovetail_backends.selection:default_device"),
    "default_prng_impl": ("random", "dovetail_random.options:default_prng_impl"),
    "device_count": ("backends", "dovetail_backends.devices:device_count"),
    "device_get": ("backends", "dovetail_backends.placement:device_get"),
    "device_put": ("backends", "dovetail_backends.placement:device_put"),
    "devices": ("backends", "dovetail_backends.devices:devices"),
    "disable_jit": ("jit", "dovetail_jit:disable_jit"),
    "dlpack": ("backends", "dovetail.dlpack"),
    "dtypes": ("lax", "dovetail.dtypes"),
    "enable_x64": ("kernel", "dovetail_core.context:enable_x64"),
    "ensure_compile_time_eval": ("jit", "dovetail_jit:ensure_compile_time_eval"),
    "errors": ("kernel", "dovetail.errors"),
    "eval_shape": ("jit", "dovetail_jit:eval_shape"),
    "float0": ("kernel", "dovetail_core.types:float0"),
    "grad": ("ad", "dovetail_ad:grad"),
    "hessian": ("ad", "dovetail_ad:hessian"),
    "jacfwd": ("ad", "dovetail_ad:jacfwd"),
    "jacrev": ("ad", "dovetail_ad:jacrev"),
    "jit": ("jit", "dovetail_jit:jit"),
    "jvp": ("ad", "dovetail_ad:jvp"),
    "lax": ("lax", "dovetail.lax"),
    "linear_transpose": ("ad", "dovetail_ad:linear_transpose"),
    "linearize": ("ad", "dovetail_ad:linearize"),
    "live_arrays": ("backends", "dovetail_backends.placement:live_arrays"),
    "local_device_count": ("backends", "dovetail_backends.devices:local_device_count"),
    "local_devices": ("backends", "dovetail_backends.devices:local_devices"),
    "make_jaxpr": ("jit", "dovetail_jit:make_jaxpr"),
    "named_scope": ("kernel", "dovetail_core.source:named_scope"),
    "nn": ("nn", "dovetail.nn"),
    "numpy": ("numpy", "dovetail.numpy"),
    "numpy_dtype_promotion": ("lax", "dovetail_lax.dtypes:numpy_dtype_promotion"),
    "process_count": ("backends", "dovetail_backends.devices:process_count"),
    "process_index": ("backends", "dovetail_backends.devices:process_index"),
    "process_indices": ("backends", "dovetail_backends.devices:process_indices"),
    "random": ("random", "dovetail.random"),
    "remat": ("remat", "dovetail_remat:remat"),
    "test_util": ("ad", "dovetail.test_util"),
    "threefry_partitionable": ("random", "dovetail_random.options:threefry_partitionable"),
    "tree": ("kernel", "dovetail.tree"),
    "tree_util": ("kernel", "dovetail.tree_util"),
    "typeof": ("kernel", "dovetail_core.types:typeof"),
    "value_and_grad": ("ad", "dovetail_ad:value_and_grad"),
    "vjp": ("ad", "dovetail_ad:vjp"),
    "vmap": ("batching", "dovetail_batching:vmap"),
}
__all__ = [
    "Array",
    "Device",
    "ShapeDtypeStruct",
    "Shard",
    "block_until_ready",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "clear_caches",
    "config",
    "copy_to_host_async",
    "default_backend",
    "default_device",
    "default_prng_impl",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dlpack",
    "dtypes",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "float0",
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "make_jaxpr",
    "named_scope",
    "nn",
    "numpy",
    "numpy_dtype_promotion",
    "process_count",
    "process_index",
    "process_indices",
    "random",
    "remat",
    "test_util",
    "threefry_partitionable",
    "tree",
    "tree_util",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
