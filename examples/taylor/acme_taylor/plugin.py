"""Manifest of the plugin ``taylor``: a transformation, and its rules for ``lax``."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "taylor",
    requires=("lax", "ad"),
    names={"taylor": "acme_taylor:taylor"},
    tables={"taylor.series": "acme_taylor.series:series_rules"},
    contributes={"taylor.series": ("acme_taylor.derived", "acme_taylor.rules")},
    laws={"taylor.series": "acme_taylor.laws:series_law"},
)
