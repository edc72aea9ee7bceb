"""Manifest of the plugin ``batching``: ``vmap``."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "batching",
    names={"vmap": "dovetail_batching:vmap"},
    tables={"batching.batch": "dovetail_batching.tables:batch_rules"},
    laws={"batching.batch": "dovetail_batching.laws:batch_law"},
)
