"""Manifest of the plugin ``experimental``: example libraries, and what JAX has on trial."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "experimental",
    requires=(
        "ad",
        "backends",
        "cost",
        "custom_rules",
        "jit",
        "lax",
        "nn",
        "numpy",
        "random",
        "refs",
        "scipy",
    ),
    tables={
        "experimental.cost": "dovetail_experimental.roofline.cost:cost_rules",
        "experimental.roofline": "dovetail_experimental.roofline.results:roofline_rules",
        "experimental.series": "dovetail_experimental.jet.series:series_rules",
    },
    primitives=("dovetail_experimental.primitives",),
    contributes={
        "ad.jvp": ("dovetail_experimental.rules.ad",),
        "backends.reference": ("dovetail_experimental.rules.backends",),
        "ad.transpose": ("dovetail_experimental.rules.ad",),
        "backends.stablehlo": ("dovetail_experimental.rules.backends",),
        "batching.batch": ("dovetail_experimental.rules.batch",),
        "experimental.cost": ("dovetail_experimental.rules.cost",),
        "experimental.roofline": ("dovetail_experimental.rules.roofline",),
        "sharding.infer": ("dovetail_experimental.rules.sharding",),
        "experimental.series": (
            "dovetail_experimental.jet.derived",
            "dovetail_experimental.jet.recurrences",
        ),
    },
    own_rules=(
        "dovetail_experimental.rules.ad",
        "dovetail_experimental.rules.backends",
        "dovetail_experimental.rules.batch",
    ),
    samples=("dovetail_experimental.samples",),
    laws={
        "experimental.cost": "dovetail_experimental.roofline.laws:cost_law",
        "experimental.roofline": "dovetail_experimental.roofline.laws:roofline_law",
        "experimental.series": "dovetail_experimental.jet.laws:series_law",
    },
    surfaces={
        "example_libraries": "dovetail_experimental.example_libraries",
        "extend": "dovetail_experimental.extend",
        "example_libraries.optimizers": "dovetail_experimental.optimizers",
        "example_libraries.stax": "dovetail_experimental.stax",
        "experimental.compilation_cache": "dovetail_experimental.compilation_cache",
        "experimental.compilation_cache.compilation_cache": (
            "dovetail_experimental.compilation_cache.compilation_cache"
        ),
        "experimental.compute_on": "dovetail_experimental.compute_on",
        "experimental.jet": "dovetail_experimental.jet",
        "experimental.layout": "dovetail_experimental.layout",
        "experimental.ode": "dovetail_experimental.ode",
        "experimental.profiler": "dovetail_experimental.profiler",
        "experimental.random": "dovetail_experimental.random",
        "experimental.roofline": "dovetail_experimental.roofline",
        "experimental.scheduling_groups": "dovetail_experimental.scheduling_groups",
        "experimental.xla_metadata": "dovetail_experimental.xla_metadata",
        "experimental.x64_context": "dovetail_experimental.x64_context",
    },
)
