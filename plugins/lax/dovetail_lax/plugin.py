"""Manifest of the plugin ``lax``: the primitives on arrays and their cells."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "lax",
    requires=("batching",),
    names={"numpy_dtype_promotion": "dovetail_lax.dtypes:numpy_dtype_promotion"},
    surfaces={
        "dtypes": "dovetail_lax.dtypes",
        "lax": "dovetail_lax",
        "lax.linalg": "dovetail_lax.linalg",
    },
    options={"numpy_dtype_promotion": "dovetail_lax.promotion:numpy_dtype_promotion"},
    rows=("dovetail_lax.primitives",),
    contributes={
        "ad.jvp": ("dovetail_lax.cells.jvp",),
        "ad.transpose": ("dovetail_lax.cells.transpose",),
        "ad.partial_eval": ("dovetail_lax.cells.partial_eval",),
        "batching.batch": ("dovetail_lax.cells.batch",),
        "backends.stablehlo": ("dovetail_lax.cells.stablehlo",),
        "backends.reference": ("dovetail_lax.cells.reference",),
        "dce": ("dovetail_lax.cells.dce",),
        "remat.cost": ("dovetail_lax.cells.cost",),
        "refs.discharge": ("dovetail_lax.cells.discharge",),
    },
    providers={"algebra": "dovetail_lax.algebra:ALGEBRA"},
    samples=("dovetail_lax.samples",),
)
