"""Manifest of the plugin ``batching``: ``vmap`` and collectives over a mapped axis."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "batching",
    names={"vmap": "dovetail_batching:vmap"},
    rows=("dovetail_batching.collectives",),
    tables={"batching.batch": "dovetail_batching.tables:batch_rules"},
    contributes={"batching.batch": ("dovetail_batching.collective_cells",)},
    laws={"batching.batch": "dovetail_batching.laws:batch_law"},
)
