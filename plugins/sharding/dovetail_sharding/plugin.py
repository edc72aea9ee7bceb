"""Manifest of the plugin ``sharding``: arrays and programs on several devices."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "sharding",
    requires=("backends", "batching", "jit", "lax", "refs"),
    primitives=(
        "dovetail_sharding.manual.primitives",
        "dovetail_sharding.manual.high",
        "dovetail_sharding.inspecting",
        "dovetail_sharding.constraints",
        "dovetail_sharding.partitioning.function",
        "dovetail_sharding.types.resharding",
    ),
    tables={"sharding.infer": "dovetail_sharding.types.inference:infer_rules"},
    laws={"sharding.infer": "dovetail_sharding.laws:infer_law"},
    contributes={
        "sharding.infer": (
            "dovetail_sharding.types.inference",
            "dovetail_sharding.rules.inferring",
        ),
        "ad.jvp": ("dovetail_sharding.rules.ad",),
        "ad.transpose": ("dovetail_sharding.rules.ad",),
        "batching.batch": ("dovetail_sharding.rules.batching",),
        "backends.reference": ("dovetail_sharding.rules.reference",),
        "backends.stablehlo": (
            "dovetail_sharding.rules.backends",
            "dovetail_sharding.inspecting",
            "dovetail_sharding.partitioning.lowering",
        ),
        "checkify.checks": ("dovetail_sharding.rules.checks",),
        "eval": ("dovetail_sharding.inspecting",),
        "to_lo": ("dovetail_sharding.manual.high",),
    },
    own_rules=(
        "dovetail_sharding.rules.ad",
        "dovetail_sharding.rules.batching",
        "dovetail_sharding.rules.reference",
        "dovetail_sharding.rules.backends",
        "dovetail_sharding.inspecting",
        "dovetail_sharding.partitioning.lowering",
    ),
    options={
        name: f"dovetail_sharding.settings:{name}"
        for name in (
            "auto_pcast",
            "disallow_mesh_context_manager",
            "remove_size_one_mesh_axis_from_type",
        )
    },
    providers={
        "type_sharding": "dovetail_sharding.types.type_sharding:TYPE_SHARDINGS",
        "manual_axis_type": "dovetail_sharding.manual.types:of_type",
    },
    names={
        **names_of("dovetail_sharding.public"),
        "debug.inspect_array_sharding": "dovetail_sharding.inspecting:inspect_array_sharding",
        "debug.visualize_array_sharding": (
            "dovetail_sharding.visualizing:visualize_array_sharding"
        ),
        "debug.visualize_sharding": "dovetail_sharding.visualizing:visualize_sharding",
        "lax.with_sharding_constraint": "dovetail_sharding.constraints:with_sharding_constraint",
    },
    surfaces={
        "sharding": "dovetail_sharding",
        "experimental.custom_partitioning": "dovetail_sharding.experimental.custom_partitioning",
        "experimental.mesh_utils": "dovetail_sharding.experimental.mesh_utils",
        "experimental.shard_alike": "dovetail_sharding.experimental.shard_alike",
        "experimental.shard_map": "dovetail_sharding.experimental.shard_map",
        "experimental.topologies": "dovetail_sharding.topologies",
    },
)
