"""Manifest of the plugin ``remat``: rematerialisation."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "remat",
    requires=("ad", "batching", "cost", "lax"),
    names=names_of("dovetail_remat.public"),
    surfaces={"ad_checkpoint": "dovetail_remat.ad_checkpoint"},
    primitives=(
        "dovetail_remat.primitive",
        "dovetail_remat.loops.primitives",
        "dovetail_remat.loops.second",
    ),
    contributes={
        "sharding.infer": ("dovetail_remat.rules.sharding",),
        "ad.jvp": (
            "dovetail_remat.rules.differentiation",
            "dovetail_remat.loops.rules.differentiation",
        ),
        "ad.partial_eval": (
            "dovetail_remat.rules.differentiation",
            "dovetail_remat.loops.rules.differentiation",
        ),
        "ad.transpose": (
            "dovetail_remat.rules.differentiation",
            "dovetail_remat.loops.rules.differentiation",
        ),
        "backends.stablehlo": ("dovetail_remat.rules.running",),
        "backends.reference": ("dovetail_remat.rules.running",),
        "batching.batch": (
            "dovetail_remat.rules.batching",
            "dovetail_remat.loops.rules.batching",
        ),
        "eval": ("dovetail_remat.rules.running",),
        "dce": ("dovetail_remat.loops.rules.dce",),
        "to_lo": ("dovetail_remat.loops.rules.lowering",),
        "remat.cost": ("dovetail_remat.rules.cost",),
    },
    own_rules=(
        "dovetail_remat.rules.differentiation",
        "dovetail_remat.loops.rules.differentiation",
        "dovetail_remat.rules.running",
        "dovetail_remat.rules.batching",
        "dovetail_remat.loops.rules.batching",
        "dovetail_remat.loops.rules.dce",
        "dovetail_remat.loops.rules.lowering",
        "dovetail_remat.rules.cost",
    ),
    samples=("dovetail_remat.samples", "dovetail_remat.loops.samples"),
    providers={"loop_checkpointing": "dovetail_remat.loops.provider:PROVIDER"},
)
