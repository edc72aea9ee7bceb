"""Manifest of the plugin ``services``: programs compiled by other processes, or ahead of calls."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "services",
    requires=("backends", "cost", "jit"),
    names=names_of("dovetail_services.public"),
    providers={
        "cache_by_source": "dovetail_services.source_cache.provider:provider",
        "complete_executable": "dovetail_services.disk_cache.provider:complete_executable",
    },
    members={
        "jit.executables.disk_cache": "dovetail_services.disk_cache.options:PROVIDER",
        "jit.executables.tiers": "dovetail_services.tiers.options:PROVIDER",
        "jit.methods.precompile": "dovetail_services.precompile.compile_all:precompile",
    },
    commands={
        "cache": "dovetail_services.disk_cache.command",
        "warm": "dovetail_services.precompile.command",
    },
    options={
        "compilation_cache_dir": "dovetail_services.disk_cache.options:cache_dir",
        "compilation_cache_max_size": "dovetail_services.disk_cache.options:cache_max_size",
        "compilation_cache_signed": "dovetail_services.disk_cache.options:cache_signed",
        "compile_progress": "dovetail_services.precompile.options:compile_progress",
        "persistent_cache_min_compile_time_secs": (
            "dovetail_services.disk_cache.options:cache_min_seconds"
        ),
        "persistent_cache_min_entry_size_bytes": (
            "dovetail_services.disk_cache.options:cache_min_bytes"
        ),
        "record_compiles": "dovetail_services.precompile.options:record_compiles",
        "tiered": "dovetail_services.tiers.options:tiered",
    },
    hooks="dovetail_services.precompile.options",
    hooks_of_options=("record_compiles",),
)
