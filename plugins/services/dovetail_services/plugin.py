"""Manifest of the plugin ``services``: programs compiled by other processes, or ahead of calls."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "services",
    requires=("backends", "jit", "remat"),
    names=names_of("dovetail_services.public"),
    providers={"cache_by_source": "dovetail_services.source_cache.provider:provider"},
    members={
        "jit.executables.tiers": "dovetail_services.tiers.options:PROVIDER",
        "jit.methods.precompile": "dovetail_services.precompile.compile_all:precompile",
    },
    commands={"warm": "dovetail_services.precompile.command"},
    options={
        "compile_progress": "dovetail_services.precompile.options:compile_progress",
        "record_compiles": "dovetail_services.precompile.options:record_compiles",
        "tiered": "dovetail_services.tiers.options:tiered",
    },
    hooks="dovetail_services.precompile.options",
    hooks_of_options=("record_compiles",),
)
