"""Manifest of the plugin ``loops``: two primitives, and no rule of any transformation."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "loops",
    requires=("lax", "batching"),
    names={"tree_reduce": "acme_loops:tree_reduce", "in_turns": "acme_loops:in_turns"},
    primitives=("acme_loops.tree", "acme_loops.turns"),
)
