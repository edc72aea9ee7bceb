"""Manifest of the plugin ``tiers``: programs run at once, while they are compiled in full."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "tiers",
    requires=("backends", "jit", "remat"),
    members={"jit.executables.tiers": "dovetail_tiers.options:PROVIDER"},
    options={"tiered": "dovetail_tiers.options:tiered"},
)
