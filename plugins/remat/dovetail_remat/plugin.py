"""Manifest of the plugin ``remat``: rematerialisation."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "remat",
    names={
        "checkpoint": "dovetail_remat:checkpoint",
        "checkpoint_name": "dovetail_remat:checkpoint_name",
        "checkpoint_policies": "dovetail_remat.policies",
        "remat": "dovetail_remat:remat",
    },
    rows=("dovetail_remat.primitive",),
    contributes={
        "ad.jvp": ("dovetail_remat.cells.ad",),
        "ad.partial_eval": ("dovetail_remat.cells.ad",),
        "ad.transpose": ("dovetail_remat.cells.ad",),
        "backends.stablehlo": ("dovetail_remat.cells.backends",),
        "backends.reference": ("dovetail_remat.cells.backends",),
        "dce": ("dovetail_remat.cells.dce",),
    },
)
