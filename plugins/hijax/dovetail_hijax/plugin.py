"""Manifest of the plugin ``hijax``: high types and primitives."""

from dovetail_core.registry.manifest import Manifest

_CELLS = "dovetail_hijax.box_rules"

MANIFEST = Manifest(
    "hijax",
    requires=("ad", "batching", "refs"),
    surfaces={"hijax": "dovetail_hijax"},
    providers={"high_algebra": "dovetail_hijax.algebra:ALGEBRA"},
    primitives=("dovetail_hijax.algebra", "dovetail_hijax.two_phases", "dovetail_hijax.box"),
    contributes={
        "eval": (f"{_CELLS}.evaluation",),
        "refs.discharge": (f"{_CELLS}.discharge",),
        "ad.jvp": (f"{_CELLS}.jvp",),
        "batching.batch": (f"{_CELLS}.batch",),
    },
)
