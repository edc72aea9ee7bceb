"""Manifest of the plugin ``nn``: activations, softmax, attention and initializers."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "nn",
    requires=("jit", "lax", "numpy", "random"),
    surfaces={"nn": "dovetail_nn", "nn.initializers": "dovetail_nn.initializers"},
    primitives=("dovetail_nn.primitives",),
    contributes={
        "ad.jvp": ("dovetail_nn.rules.jvp",),
        "batching.batch": ("dovetail_nn.rules.batch",),
        "backends.stablehlo": ("dovetail_nn.rules.stablehlo",),
    },
    samples=("dovetail_nn.samples",),
)
