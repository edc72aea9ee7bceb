"""Manifest of the plugin ``remat``: rematerialisation."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "remat",
    names={
        "checkpoint": "dovetail_remat:checkpoint",
        "checkpoint_name": "dovetail_remat:checkpoint_name",
        "checkpoint_policies": "dovetail_remat:checkpoint_policies",
        "remat": "dovetail_remat:remat",
    },
    rows=("dovetail_remat.primitive",),
    contributes={
        "ad.jvp": ("dovetail_remat.cells.differentiation.rules",),
        "ad.partial_eval": ("dovetail_remat.cells.differentiation.rules",),
        "ad.transpose": ("dovetail_remat.cells.differentiation.rules",),
        "backends.stablehlo": ("dovetail_remat.cells.running.rules",),
        "backends.reference": ("dovetail_remat.cells.running.rules",),
        "dce": ("dovetail_remat.cells.dce",),
    },
)
