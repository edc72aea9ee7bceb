"""Manifest of the plugin ``sparse``: arrays of which only some elements are stored."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "sparse",
    requires=("batching", "jit", "lax", "numpy"),
    surfaces={"experimental.sparse": "dovetail_sparse"},
)
