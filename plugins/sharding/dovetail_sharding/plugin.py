"""Manifest of the plugin ``sharding``: where the parts of arrays are."""

from dovetail_core.registry.manifest import Manifest, names_of

MANIFEST = Manifest(
    "sharding",
    requires=("backends", "batching", "jit"),
    names=names_of("dovetail_sharding.public"),
    surfaces={
        "sharding": "dovetail_sharding",
        "experimental.mesh_utils": "dovetail_sharding.experimental.mesh_utils",
    },
)
