"""Manifest of the plugin ``batching``: ``vmap``."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "batching",
    names={"vmap": "dovetail_batching:vmap"},
    tables={"batching.batch": "dovetail_batching.tables:batch_rules"},
    contributes={"batching.batch": ("dovetail_batching.trace",)},
    laws={"batching.batch": "dovetail_batching.laws:batch_law"},
)
