"""Manifest of the plugin ``jit``: compilation and eager dispatch."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "jit",
    requires=("backends",),
    names=names_of("dovetail_jit.public"),
    surfaces={
        "experimental.serialize_executable": "dovetail_jit.serializing",
        "monitoring": "dovetail_jit.monitoring",
        "stages": "dovetail_jit.stages",
    },
    primitives=("dovetail_jit.primitive",),
    contributes={
        "eval": ("dovetail_jit.rules.evaluation",),
        "backends.stablehlo": ("dovetail_jit.rules.backends",),
        "backends.reference": ("dovetail_jit.rules.backends",),
    },
    providers={
        "evaluator": "dovetail_jit.eager:evaluator",
        "fuser": "dovetail_jit.fused_api:fused",
        "program_caller": "dovetail_jit.eager:program_call",
        "trace_cache": "dovetail_jit.trace_cache.provider:TRACE_CACHE",
        "stages": "dovetail_jit.function_stages:with_stages",
        "resharder": "dovetail_jit.reshard:resharded",
        "backend_law": "dovetail_jit.laws:backend_law",
    },
    members={
        "jit.executables.numpy_fallback": "dovetail_jit.providers.known:NUMPY_FALLBACK",
        "jit.executables.per_shard_calls": "dovetail_jit.providers.known:PER_SHARD_CALLS",
        "jit.executables.disk_cache": "dovetail_jit.providers.known:DISK_CACHE",
        "jit.executables.equal_modules": "dovetail_jit.providers.known:EQUAL_MODULES",
    },
    commands={"cache": "dovetail_jit.disk_cache.command", "ir": "dovetail_jit.ir_command"},
    options={
        "cache": "dovetail_jit.disk_cache:cache_mode",
        "compilation_cache_dir": "dovetail_jit.disk_cache:cache_dir",
        "compilation_cache_max_size": "dovetail_jit.disk_cache:cache_max_size",
        "compilation_cache_signed": "dovetail_jit.disk_cache:cache_signed",
        "captured_constants_warn_bytes": "dovetail_jit.options:captured_constants_warn_bytes",
        "disable_most_optimizations": "dovetail_jit.options:disable_most_optimizations",
        "by_parts_after": "dovetail_jit.options:by_parts_after",
        "interpret_first_calls": "dovetail_jit.options:interpret_first_calls",
        "no_execution": "dovetail_jit.options:no_execution",
        "no_tracing": "dovetail_jit.options:no_tracing",
        "persistent_cache_min_compile_time_secs": "dovetail_jit.disk_cache:cache_min_seconds",
        "persistent_cache_min_entry_size_bytes": "dovetail_jit.disk_cache:cache_min_bytes",
    },
)
