"""Manifest of the plugin ``checked``: a primitive and its rules."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "checked",
    requires=("lax", "numpy"),
    names={name: f"acme_checked:{name}" for name in ("check", "checked")},
    primitives=("acme_checked.check",),
    contributes={
        "batching.batch": ("acme_checked.rules.batching",),
        "backends.reference": ("acme_checked.rules.backends",),
        "backends.stablehlo": ("acme_checked.rules.backends",),
    },
    samples=("acme_checked.samples",),
)
