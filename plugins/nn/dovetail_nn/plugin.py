"""Manifest of the plugin ``nn``: activations, softmax, attention and initializers."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "nn",
    requires=("jit", "lax", "numpy", "random"),
    surfaces={"nn": "dovetail_nn", "nn.initializers": "dovetail_nn.initializers"},
    rows=("dovetail_nn.rows",),
    contributes={
        "ad.jvp": ("dovetail_nn.cells.jvp",),
        "batching.batch": ("dovetail_nn.cells.batch",),
        "backends.stablehlo": ("dovetail_nn.cells.stablehlo",),
    },
    samples=("dovetail_nn.samples",),
)
