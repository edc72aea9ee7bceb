"""Manifest of the plugin ``refs``: mutable references."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "refs",
    requires=("numpy", "jit", "lax"),
    names=names_of("dovetail_refs.public"),
    surfaces={"ref": "dovetail_refs.ref"},
    primitives=("dovetail_refs.primitives",),
    tables={"refs.discharge": "dovetail_refs.tables:discharge_rules"},
    contributes={
        "sharding.infer": ("dovetail_refs.rules.sharding",),
        "eval": ("dovetail_refs.rules.evaluation",),
        "dce": ("dovetail_refs.rules.dce",),
        "ad.jvp": ("dovetail_refs.rules.jvp",),
        "batching.batch": ("dovetail_refs.rules.batch",),
        "refs.discharge": ("dovetail_refs.region_discharge", "dovetail_refs.rules.discharge"),
    },
    own_rules=(
        "dovetail_refs.rules.evaluation",
        "dovetail_refs.rules.dce",
        "dovetail_refs.rules.jvp",
        "dovetail_refs.rules.batch",
    ),
    types=("dovetail_refs.value",),
    providers={"discharge": "dovetail_refs.discharging:DISCHARGER"},
    samples=("dovetail_refs.samples",),
    laws={"refs.discharge": "dovetail_refs.laws:discharge_law"},
    passes={"discharge": "dovetail_refs.discharging:DISCHARGE"},
)
