"""Manifest of the plugin ``scipy``: special functions, statistics, linear algebra and the rest."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "scipy",
    requires=("ad", "custom_rules", "jit", "lax", "nn", "numpy"),
    surfaces={
        "scipy": "dovetail_scipy",
        "scipy.fft": "dovetail_scipy.fft",
        "scipy.integrate": "dovetail_scipy.integrate",
        "scipy.linalg": "dovetail_scipy.linalg",
        "scipy.signal": "dovetail_scipy.signal",
        "scipy.special": "dovetail_scipy.special",
    },
)
