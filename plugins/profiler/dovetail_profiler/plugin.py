"""Manifest of the plugin ``profiler``: profiles, and reasons of compilations."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "profiler",
    requires=("backends", "cost", "jit"),
    names=names_of("dovetail_profiler.public"),
    surfaces={"profiler": "dovetail_profiler"},
    commands={
        "memory": "dovetail_profiler.memory.command",
        "profile": "dovetail_profiler.report.command",
    },
    options={
        "explain_cache_misses": "dovetail_profiler.options:explain_cache_misses",
        "log_compiles": "dovetail_profiler.options:log_compiles",
    },
    hooks="dovetail_profiler.hooks",
    hooks_of_options=("log_compiles", "explain_cache_misses"),
)
