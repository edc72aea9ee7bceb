"""Manifest of the plugin ``remat``: rematerialisation."""

from dovetail_core.manifest import Manifest, names_of

MANIFEST = Manifest(
    "remat",
    requires=("ad", "batching", "lax"),
    names=names_of("dovetail_remat.public"),
    surfaces={"ad_checkpoint": "dovetail_remat.ad_checkpoint"},
    rows=("dovetail_remat.primitive", "dovetail_remat.loops.rows"),
    tables={"remat.cost": "dovetail_remat.budget.costs:cost_rules"},
    laws={"remat.cost": "dovetail_remat.laws:cost_law"},
    contributes={
        "ad.jvp": (
            "dovetail_remat.cells.differentiation",
            "dovetail_remat.loops.cells.differentiation",
            "dovetail_remat.loops.cells.higher_orders",
        ),
        "ad.partial_eval": (
            "dovetail_remat.cells.differentiation",
            "dovetail_remat.loops.cells.differentiation",
            "dovetail_remat.loops.cells.higher_orders",
        ),
        "ad.transpose": (
            "dovetail_remat.cells.differentiation",
            "dovetail_remat.loops.cells.differentiation",
            "dovetail_remat.loops.cells.higher_orders",
        ),
        "backends.stablehlo": ("dovetail_remat.cells.running",),
        "backends.reference": ("dovetail_remat.cells.running",),
        "batching.batch": (
            "dovetail_remat.cells.batching",
            "dovetail_remat.loops.cells.batching",
        ),
        "eval": ("dovetail_remat.cells.running.placement",),
        "dce": ("dovetail_remat.cells.dce", "dovetail_remat.loops.cells.dce"),
        "to_lo": ("dovetail_remat.loops.cells.lowering",),
        "remat.cost": ("dovetail_remat.cells.cost",),
    },
    samples=("dovetail_remat.samples", "dovetail_remat.loops.samples"),
    providers={"loop_checkpointing": "dovetail_remat.loops.provider:PROVIDER"},
)
