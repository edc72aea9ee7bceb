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
        "jit.executables.numpy_fallback": "dovetail_jit.providers:NUMPY_FALLBACK",
        "jit.executables.per_shard_calls": "dovetail_jit.providers:PER_SHARD_CALLS",
        "jit.executables.equal_modules": "dovetail_jit.providers:EQUAL_MODULES",
    },
    commands={"ir": "dovetail_jit.ir_command"},
    options={
        "cache": "dovetail_jit.options:cache_mode",
        "captured_constants_warn_bytes": "dovetail_jit.options:captured_constants_warn_bytes",
        "disable_most_optimizations": "dovetail_jit.options:disable_most_optimizations",
        "by_parts_after": "dovetail_jit.options:by_parts_after",
        "interpret_first_calls": "dovetail_jit.options:interpret_first_calls",
        "no_execution": "dovetail_jit.options:no_execution",
        "no_tracing": "dovetail_jit.options:no_tracing",
    },
)
