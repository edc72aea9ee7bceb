"""Manifest of the plugin ``jit``: compilation and eager dispatch."""

from dovetail_core.registry.manifest import Manifest, names_of

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
        "fuser": "dovetail_jit.eager:fused",
        "program_caller": "dovetail_jit.eager:call_at_rest",
        "stages": "dovetail_jit.staged:with_stages",
        "resharder": "dovetail_jit.moving:resharded",
        "backend_law": "dovetail_jit.laws:backend_law",
    },
    commands={"cache": "dovetail_jit.disk_cache.command", "ir": "dovetail_jit.ir_command"},
    options={
        "cache": "dovetail_jit.disk_cache:cache_mode",
        "compilation_cache_dir": "dovetail_jit.disk_cache:cache_dir",
        "compilation_cache_max_size": "dovetail_jit.disk_cache:cache_max_size",
        "compilation_cache_signed": "dovetail_jit.disk_cache:cache_signed",
        "captured_constants_warn_bytes": "dovetail_jit.captured:captured_constants_warn_bytes",
        "disable_most_optimizations": "dovetail_jit.optimizations:disable_most_optimizations",
        "by_parts_after": "dovetail_jit.by_parts:by_parts_after",
        "interpret_first_calls": "dovetail_jit.first_calls:interpret_first_calls",
        "no_execution": "dovetail_jit.restrictions:no_execution",
        "no_tracing": "dovetail_jit.restrictions:no_tracing",
        "persistent_cache_min_compile_time_secs": "dovetail_jit.disk_cache:cache_min_seconds",
        "persistent_cache_min_entry_size_bytes": "dovetail_jit.disk_cache:cache_min_bytes",
    },
)
