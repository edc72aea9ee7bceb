"""Manifest of the plugin ``hijax``: high types and primitives."""

from dovetail_core import Manifest

_BOX_RULES = "dovetail_hijax.box_rules"

MANIFEST = Manifest(
    "hijax",
    requires=("ad", "batching", "refs"),
    names={"experimental.cur_qdd": "dovetail_hijax:cur_qdd"},
    surfaces={"hijax": "dovetail_hijax"},
    providers={"high_algebra": "dovetail_hijax.algebra:ALGEBRA"},
    primitives=("dovetail_hijax.algebra", "dovetail_hijax.linearization", "dovetail_hijax.box"),
    contributes={
        "eval": (f"{_BOX_RULES}.evaluation",),
        "refs.discharge": (f"{_BOX_RULES}.discharge",),
        "ad.jvp": (f"{_BOX_RULES}.jvp",),
        "batching.batch": (f"{_BOX_RULES}.batch",),
    },
    own_rules=tuple(f"{_BOX_RULES}.{t}" for t in ("evaluation", "discharge", "jvp", "batch")),
)
