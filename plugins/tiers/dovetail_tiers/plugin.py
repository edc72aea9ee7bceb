"""Manifest of the plugin ``tiers``: programs run at once, while they are compiled in full."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "tiers",
    requires=("backends", "jit", "remat"),
    providers={"tiers": "dovetail_tiers.tiers:begin"},
    options={"tiered": "dovetail_tiers.options:tiered"},
)
