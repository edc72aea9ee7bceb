"""Manifest of the plugin ``logdensity``: two primitives, and how a mapped one is one on arrays."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "logdensity",
    requires=("lax", "batching", "random"),
    primitives=("acme_logdensity.sites",),
    contributes={"batching.batch": ("acme_logdensity.batching",)},
)
