"""Manifest of the plugin ``jit``: compilation and eager dispatch."""

from dovetail_core.manifest import Manifest

_NAMES = (
    "ShapeDtypeStruct clear_caches disable_jit effects_barrier ensure_compile_time_eval eval_shape "
    "jit make_jaxpr"
).split()

MANIFEST = Manifest(
    "jit",
    requires=("backends",),
    names={n: f"dovetail_jit:{n}" for n in _NAMES},
    surfaces={"stages": "dovetail_jit.stages"},
    rows=("dovetail_jit.primitive",),
    contributes={
        "ad.partial_eval": ("dovetail_jit.cells.ad.partial_eval",),
        "ad.transpose": ("dovetail_jit.cells.ad.transpose",),
        "backends.stablehlo": ("dovetail_jit.cells.backends.stablehlo",),
        "backends.reference": ("dovetail_jit.cells.backends.reference",),
        "dce": ("dovetail_jit.cells.dce",),
    },
    providers={"evaluator": "dovetail_jit.eager:evaluator"},
    commands={"ir": "dovetail_jit.ir_command"},
    options={
        "compilation_cache_dir": "dovetail_jit.disk_cache:compilation_cache_dir",
        "persistent_cache_min_compile_time_secs": "dovetail_jit.disk_cache:cache_min_seconds",
    },
)
