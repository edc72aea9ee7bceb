"""Manifest of the plugin ``scipy``: special functions, statistics, linear algebra and the rest."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "scipy",
    requires=("ad", "custom_rules", "jit", "lax", "nn", "numpy"),
    surfaces={
        "scipy": "dovetail_scipy",
        "scipy.integrate": "dovetail_scipy.integrate",
        "scipy.special": "dovetail_scipy.special",
    },
)
