"""Manifest of the plugin ``batching``: ``vmap``."""

from dovetail_core.manifest import Manifest

from . import __all__ as _NAMES

MANIFEST = Manifest(
    "batching",
    names={n: f"dovetail_batching:{n}" for n in _NAMES},
    tables={"batching.batch": "dovetail_batching.tables:batch_rules"},
    laws={"batching.batch": "dovetail_batching.laws:batch_law"},
)
