"""Manifest of the plugin ``numpy``: the array functions, operators and methods."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "numpy",
    requires=("lax", "jit", "backends", "batching", "custom_rules"),
    names={
        "ds": "dovetail_numpy.indexing.windows:ds",
        "numpy_rank_promotion": "dovetail_numpy.promotion:numpy_rank_promotion",
    },
    options={"numpy_rank_promotion": "dovetail_numpy.promotion:numpy_rank_promotion"},
    surfaces={
        "flatten_util": "dovetail_numpy.flatten_util",
        "numpy": "dovetail_numpy",
        "numpy.fft": "dovetail_numpy.fft",
        "numpy.linalg": "dovetail_numpy.linalg",
        "ops": "dovetail_numpy.segments",
        "typing": "dovetail_numpy.typing",
    },
    providers={"array_methods": "dovetail_numpy.arrays.methods:install"},
)
