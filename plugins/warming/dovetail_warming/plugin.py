"""Manifest of the plugin ``warming``: programs compiled ahead of their first call, in parallel."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "warming",
    requires=("backends", "jit"),
    names=names_of("dovetail_warming.public"),
    commands={"warm": "dovetail_warming.manifest.command"},
    options={
        "compile_progress": "dovetail_warming.options:compile_progress",
        "record_compiles": "dovetail_warming.options:record_compiles",
    },
    hooks="dovetail_warming.hooks",
    members={"jit.methods.precompile": "dovetail_warming.ahead:precompile"},
    hooks_of_options=("record_compiles",),
)
