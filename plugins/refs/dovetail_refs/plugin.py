"""Manifest of the plugin ``refs``: mutable references."""

from dovetail_core.registry.manifest import Manifest

_NAMES = ("Ref", "empty_ref", "free_ref", "freeze", "new_ref")

MANIFEST = Manifest(
    "refs",
    requires=("numpy", "jit", "lax"),
    names={n: f"dovetail_refs:{n}" for n in _NAMES},
    surfaces={"ref": "dovetail_refs"},
    primitives=("dovetail_refs.primitives",),
    tables={"refs.discharge": "dovetail_refs.tables:discharge_rules"},
    contributes={
        "eval": ("dovetail_refs.rules.evaluation",),
        "dce": ("dovetail_refs.rules.dce",),
        "ad.jvp": ("dovetail_refs.rules.jvp",),
        "batching.batch": ("dovetail_refs.rules.batch",),
        "refs.discharge": ("dovetail_refs.regions", "dovetail_refs.rules.discharge"),
    },
    types=("dovetail_refs.value",),
    providers={"discharge": "dovetail_refs.discharging:DISCHARGER"},
    samples=("dovetail_refs.samples",),
    laws={"refs.discharge": "dovetail_refs.laws:discharge_law"},
    passes={"discharge": "dovetail_refs.passes:DISCHARGE"},
)
