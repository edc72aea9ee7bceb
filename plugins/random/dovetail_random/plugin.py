"""Manifest of the plugin ``random``: random keys and draws."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "random",
    requires=("backends", "batching", "jit", "lax", "numpy"),
    names={
        "debug_key_reuse": "dovetail_random.reuse.analysis:debug_key_reuse",
        "errors.KeyReuseError": "dovetail_random.reuse.analysis:KeyReuseError",
        "default_prng_impl": "dovetail_random.generators:default_prng_impl",
        "enable_custom_prng": "dovetail_random.generators:enable_custom_prng",
        "legacy_prng_key": "dovetail_random.generators:legacy_prng_key",
        "threefry_partitionable": "dovetail_random.threefry:threefry_partitionable",
    },
    surfaces={"extend.random": "dovetail_random.extend", "random": "dovetail_random"},
    primitives=(
        "dovetail_random.primitives",
        "dovetail_random.threefry",
        "dovetail_random.draws.gamma",
    ),
    tables={"random.key_reuse": "dovetail_random.reuse.table:reuse_rules"},
    laws={"random.key_reuse": "dovetail_random.reuse.laws:key_reuse_law"},
    contributes={
        "ad.jvp": ("dovetail_random.rules.jvp",),
        "batching.batch": ("dovetail_random.rules.batch",),
        "backends.stablehlo": ("dovetail_random.rules.backends",),
        "backends.reference": ("dovetail_random.rules.backends",),
        "to_lo": ("dovetail_random.rules.lowering",),
        "sharding.infer": ("dovetail_random.rules.sharding",),
        "random.key_reuse": ("dovetail_random.rules.reuse",),
    },
    own_rules=(
        "dovetail_random.rules.jvp",
        "dovetail_random.rules.batch",
        "dovetail_random.rules.backends",
        "dovetail_random.rules.lowering",
    ),
    options={
        "debug_key_reuse": "dovetail_random.reuse.analysis:debug_key_reuse",
        "default_prng_impl": "dovetail_random.generators:default_prng_impl",
        "enable_custom_prng": "dovetail_random.generators:enable_custom_prng",
        "high_dynamic_range_gumbel": "dovetail_random.draws.continuous:high_dynamic_range_gumbel",
        "legacy_prng_key": "dovetail_random.generators:legacy_prng_key",
        "random_seed_offset": "dovetail_random.generators:random_seed_offset",
        "threefry_partitionable": "dovetail_random.threefry:threefry_partitionable",
    },
    samples=("dovetail_random.samples",),
)
