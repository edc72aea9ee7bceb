"""Manifest of the plugin ``nn``: functions of neural networks, initializers, images."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "nn",
    requires=("custom_rules", "jit", "lax", "numpy", "random"),
    names={"softmax_custom_jvp": "dovetail_nn.functions.softmax:softmax_custom_jvp"},
    options={"softmax_custom_jvp": "dovetail_nn.functions.softmax:softmax_custom_jvp"},
    surfaces={
        "image": "dovetail_nn.image",
        "nn": "dovetail_nn",
        "nn.initializers": "dovetail_nn.initializers",
    },
    primitives=("dovetail_nn.primitives",),
    contributes={
        "ad.jvp": ("dovetail_nn.rules.jvp",),
        "batching.batch": ("dovetail_nn.rules.batch",),
        "backends.stablehlo": ("dovetail_nn.rules.stablehlo",),
    },
    own_rules=(
        "dovetail_nn.rules.jvp",
        "dovetail_nn.rules.batch",
        "dovetail_nn.rules.stablehlo",
    ),
    samples=("dovetail_nn.samples",),
)
