"""Manifest of the plugin ``callbacks``: Python functions called from inside of programs."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "callbacks",
    requires=("backends", "lax"),
    names={
        "debug.breakpoint": "dovetail_callbacks.breakpoints:breakpoint",
        "pure_callback": "dovetail_callbacks:pure_callback",
    },
    surfaces={
        "debug": "dovetail_callbacks.debug",
        "experimental": "dovetail_callbacks.experimental",
        "experimental.buffer_callback": "dovetail_callbacks.buffers",
    },
    options={"traceback_filtering": "dovetail_callbacks.tracebacks:traceback_filtering"},
    primitives=("dovetail_callbacks.primitives",),
    contributes={
        "eval": ("dovetail_callbacks.rules.backends",),
        "ad.jvp": ("dovetail_callbacks.rules.jvp",),
        "batching.batch": ("dovetail_callbacks.rules.batch",),
        "backends.stablehlo": ("dovetail_callbacks.rules.backends",),
        "backends.reference": ("dovetail_callbacks.rules.backends",),
        "to_lo": ("dovetail_callbacks.rules.lowering",),
        "sharding.infer": ("dovetail_callbacks.rules.sharding",),
    },
    own_rules=(
        "dovetail_callbacks.rules.backends",
        "dovetail_callbacks.rules.jvp",
        "dovetail_callbacks.rules.batch",
        "dovetail_callbacks.rules.lowering",
    ),
)
