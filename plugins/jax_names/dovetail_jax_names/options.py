"""JAX's options that Dovetail has not: they can be set, and most have no effect here.

An option that would change results is refused unless it is set to what holds here anyway.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dovetail_base.environment import as_bool
from dovetail_core import Option, config

from .usage import usage

as_jax = Option(
    "as_jax", False, "Processes that start with this answer `import jax` with Dovetail.",
    check=as_bool,
)  # fmt: skip

IDLE: dict[str, Any] = {
    "array_garbage_collection_guard": None,
    "backend_target": "",
    "bcoo_cusparse_lowering": False,
    "captured_constants_report_frames": 0,
    "check_proxy_envs": True,
    "check_vma": False,
    "compilation_cache_check_contents": False,
    "compilation_cache_expect_pgle": False,
    "compilation_cache_include_metadata_in_key": False,
    "compiler_detailed_logging_min_ops": 10,
    "compiler_enable_remat_pass": True,
    "cpu_enable_async_dispatch": True,
    "cpu_get_global_topology_timeout_minutes": 5,
    "cpu_get_local_topology_timeout_minutes": 2,
    "cross_host_transfer_socket_address": "",
    "cross_host_transfer_timeout_seconds": None,
    "cross_host_transfer_transfer_size": None,
    "cross_host_transport_addresses": "",
    "cuda_visible_devices": "all",
    "custom_vjp3": False,
    "debug_leaked_clients_on_clear_backends": False,
    "debug_log_modules": "",
    "disable_bwd_checks": False,
    "disable_vmap_shmap_error": False,
    "distributed_debug": False,
    "dump_ir_modes": "stablehlo",
    "dump_ir_to": "",
    "eager_constant_folding": False,
    "embedded_constants_max_bytes": 32,
    "enable_compilation_cache": True,
    "enable_pgle": False,
    "exec_time_optimization_effort": 0.0,
    "experimental_unsafe_xla_runtime_errors": False,
    "export_calling_convention_version": 10,
    "export_ignore_forward_compatibility": False,
    "force_dcn_cross_host_transfers": False,
    "hlo_source_file_canonicalization_regex": None,
    "include_debug_info_in_dumps": True,
    "include_full_tracebacks_in_locations": True,
    "jax2tf_associative_scan_reductions": False,
    "jax2tf_default_native_serialization": True,
    "log_checkpoint_residuals": False,
    "logging_level": "NOTSET",
    "memory_fitting_effort": 0.0,
    "memory_fitting_level": "O2",
    "mock_gpu_topology": "",
    "mock_num_gpu_processes": 0,
    "mosaic_allow_hlo": False,
    "mutable_array_checks": True,
    "oneapi_visible_devices": "all",
    "optimization_level": "UNKNOWN",
    "pallas_enable_debug_checks": False,
    "pallas_poison_buffers": False,
    "pallas_use_mosaic_gpu": True,
    "pallas_verbose_errors": False,
    "persistent_cache_enable_xla_caches": "xla_gpu_per_fusion_autotune_cache_dir",
    "pgle_aggregation_percentile": 90,
    "pgle_profiling_runs": 3,
    "pjrt_client_create_options": None,
    "pprint_use_color": True,
    "ragged_dot_use_gpu_pallas_triton_lowering": False,
    "ragged_dot_use_ragged_dot_instruction": True,
    "raise_persistent_cache_errors": False,
    "refs_to_pins": False,
    "remat3": False,
    "remove_custom_partitioning_ptr_from_cache_key": False,
    "rocm_visible_devices": "all",
    "scan3": False,
    "send_traceback_to_runtime": "off",
    "serialization_version": 0,
    "share_binary_between_hosts": False,
    "share_binary_between_hosts_timeout_ms": 1_200_000,
    "sort_devices_by_process_index": True,
    "source_url_schema": None,
    "threefry_gpu_kernel_lowering": False,
    "traceback_in_locations_limit": 100,
    "tracer_error_num_traceback_frames": 5,
    "use_direct_linearize": True,
    "use_emit_pipeline_primitive": False,
    "use_magma": "auto",
    "use_shardy_partitioner": True,
    "use_simplified_jaxpr_constants": False,
    "xla_profile_version": 0,
}
"""With JAX's defaults."""

FIXED: dict[str, Any] = {
    "check_static_indices": False,
    "error_checking_behavior_divide": "ignore",
    "error_checking_behavior_nan": "ignore",
    "error_checking_behavior_oob": "ignore",
}
"""Those that would change results, or raise errors, with what holds here."""

_OTHER_NAMES = {
    "platform_name": "platforms",
    "x64_enabled": "enable_x64",
    "xla_backend": "platforms",
}


class Values(Mapping[str, Any]):
    """The values of all options in this thread by JAX's names, as ``jax.config.values``."""

    def __getitem__(self, name: str) -> Any:
        try:
            return config.read(name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return (f"jax_{name}" for name in config.names())

    def __len__(self) -> int:
        return len(config.names())


def add_options() -> None:
    """Make JAX's options known, and set those that the environment sets by JAX's variables."""
    for name, default in IDLE.items():
        if not _is_known(name):  # a plugin may have it
            check = _noting(name, type(default))
            config.add(Option(name, default, "No effect here; JAX has it.", check=check))
    for name, value in FIXED.items():
        config.add(Option(name, value, "As JAX's default; not to be changed.", check=_only(value)))
    for name, own in _OTHER_NAMES.items():
        config.rename(name, own)
    vars(config)["values"] = Values()
    vars(config)["parse_flags_with_absl"] = vars(config)["config_with_absl"] = take_flags
    for name in config.names():
        given = os.environ.get(f"JAX_{name.upper()}")
        if given is not None and f"DOVETAIL_{name.upper()}" not in os.environ:
            config.update(name, given)


def _is_known(name: str) -> bool:
    return name in config.names()


_READERS: dict[type, Callable[[str], Any]] = {bool: as_bool, int: int, float: float}
"""How values are read that come as text, from the environment."""


def _noting(name: str, kind: type) -> Callable[[Any], Any]:
    read = _READERS.get(kind)

    def check(value: Any) -> Any:
        usage.idle(f"jax_{name}")
        return read(value) if read is not None and isinstance(value, str) else value

    return check


def _only(value: Any) -> Callable[[Any], Any]:
    def check(given: Any) -> Any:
        chosen = getattr(given, "value", given)  # of an enumeration
        if str(chosen).lower() != str(value).lower():
            raise ValueError(f"Dovetail has no other than {value!r}, got {given!r}")
        return value

    return check


def take_flags() -> None:
    """Take options (``--jax_enable_x64``) out of ``sys.argv``, where they are known."""
    kept = [sys.argv[0]]
    for argument in sys.argv[1:]:
        name, equals, value = argument.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if argument.startswith("--jax_") and _is_known(name.removeprefix("jax_")):
            config.update(name, value if equals else True)
        else:
            kept.append(argument)
    sys.argv[:] = kept
