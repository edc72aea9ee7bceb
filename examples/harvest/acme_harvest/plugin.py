"""Manifest of the plugin ``harvest``: a primitive and its rules."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "harvest",
    requires=("lax",),
    names={name: f"acme_harvest:{name}" for name in ("sow", "reap", "plant", "nest")},
    primitives=("acme_harvest.sow",),
    contributes={
        "ad.jvp": ("acme_harvest.rules.ad",),
        "batching.batch": ("acme_harvest.rules.batching",),
    },
    samples=("acme_harvest.samples",),
)
