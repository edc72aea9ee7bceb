"""Manifest of the plugin ``experimental``: example libraries, and what JAX has on trial."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "experimental",
    requires=("ad", "custom_rules", "lax", "nn", "numpy", "random", "scipy"),
    tables={"experimental.series": "dovetail_experimental.jet.series:series_rules"},
    contributes={
        "experimental.series": (
            "dovetail_experimental.jet.derived",
            "dovetail_experimental.jet.recurrences",
        ),
    },
    laws={"experimental.series": "dovetail_experimental.jet.laws:series_law"},
    surfaces={
        "example_libraries": "dovetail_experimental.example_libraries",
        "example_libraries.optimizers": "dovetail_experimental.optimizers",
        "example_libraries.stax": "dovetail_experimental.stax",
        "experimental.jet": "dovetail_experimental.jet",
        "experimental.ode": "dovetail_experimental.ode",
        "experimental.x64_context": "dovetail_experimental.x64_context",
    },
)
