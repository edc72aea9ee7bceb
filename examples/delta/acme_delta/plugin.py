"""Manifest of the plugin ``delta``: a rule table, and rules for some primitives of ``lax``."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "delta",
    requires=("lax",),
    tables={"delta.update": "acme_delta.incremental:update_rules"},
    contributes={"delta.update": ("acme_delta.rules",)},
)
