"""Manifest of the plugin ``scipy``: special functions, statistics, linear algebra and the rest."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "scipy",
    requires=("ad", "custom_rules", "jit", "lax", "nn", "numpy", "random"),
    surfaces={
        "scipy": "dovetail_scipy",
        "scipy.cluster": "dovetail_scipy.cluster",
        "scipy.cluster.vq": "dovetail_scipy.cluster.vq",
        "scipy.integrate": "dovetail_scipy.integrate",
        "scipy.interpolate": "dovetail_scipy.interpolate",
        "scipy.ndimage": "dovetail_scipy.ndimage",
        "scipy.optimize": "dovetail_scipy.optimize",
        "scipy.sparse": "dovetail_scipy.sparse",
        "scipy.sparse.linalg": "dovetail_scipy.sparse.linalg",
        "scipy.spatial": "dovetail_scipy.spatial",
        "scipy.spatial.transform": "dovetail_scipy.spatial.transform",
        "scipy.special": "dovetail_scipy.special",
    },
)
