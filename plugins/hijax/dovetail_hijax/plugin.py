"""Manifest of the plugin ``hijax``: high types and primitives."""

from dovetail_core import Manifest

_RULES = "dovetail_hijax.rules"

MANIFEST = Manifest(
    "hijax",
    requires=("ad", "batching", "refs"),
    names={"experimental.cur_qdd": "dovetail_hijax:cur_qdd"},
    surfaces={"hijax": "dovetail_hijax"},
    providers={"high_algebra": "dovetail_hijax.algebra:ALGEBRA"},
    primitives=("dovetail_hijax.algebra", "dovetail_hijax.linearization", "dovetail_hijax.box"),
    contributes={
        "eval": (f"{_RULES}.evaluation",),
        "refs.discharge": (f"{_RULES}.discharge",),
        "ad.jvp": (f"{_RULES}.jvp",),
        "batching.batch": (f"{_RULES}.batch",),
    },
    own_rules=tuple(f"{_RULES}.{t}" for t in ("evaluation", "discharge", "jvp", "batch")),
)
