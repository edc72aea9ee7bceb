"""Manifest of the plugin ``callbacks``: Python functions called from inside of programs."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "callbacks",
    requires=("backends", "lax"),
    names={"pure_callback": "dovetail_callbacks:pure_callback"},
    surfaces={
        "debug": "dovetail_callbacks.debug",
        "experimental": "dovetail_callbacks.experimental",
    },
    rows=("dovetail_callbacks.primitives",),
    contributes={
        "eval": ("dovetail_callbacks.cells.evaluation",),
        "ad.jvp": ("dovetail_callbacks.cells.jvp",),
        "batching.batch": ("dovetail_callbacks.cells.batch",),
        "backends.stablehlo": ("dovetail_callbacks.cells.stablehlo",),
        "backends.reference": ("dovetail_callbacks.cells.reference",),
    },
)
