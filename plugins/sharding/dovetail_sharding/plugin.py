"""Manifest of the plugin ``sharding``: where the parts of arrays are."""

from dovetail_core.registry.manifest import Manifest, names_of

MANIFEST = Manifest(
    "sharding",
    requires=("backends", "batching", "jit"),
    names={
        **names_of("dovetail_sharding.public"),
        "lax.with_sharding_constraint": "dovetail_sharding.constraints:with_sharding_constraint",
    },
    surfaces={
        "sharding": "dovetail_sharding",
        "experimental.mesh_utils": "dovetail_sharding.experimental.mesh_utils",
        "experimental.multihost_utils": "dovetail_sharding.experimental.multihost_utils",
    },
)
