"""Manifest of the plugin ``sparse``: arrays of which only some elements are stored."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "sparse",
    requires=("ad", "batching", "callbacks", "custom_rules", "jit", "lax", "numpy", "random"),
    primitives=("dovetail_sparse.primitives",),
    tables={"sparse.sparsify": "dovetail_sparse.lifting.carrier:sparsify_rules"},
    contributes={
        "sparse.sparsify": (
            "dovetail_sparse.rules.sparsify.elementwise",
            "dovetail_sparse.rules.sparsify.shapes",
        ),
    },
    samples=("dovetail_sparse.samples",),
    laws={"sparse.sparsify": "dovetail_sparse.lifting.laws:sparsify_law"},
    surfaces={
        "experimental.sparse": "dovetail_sparse",
        "experimental.sparse.linalg": "dovetail_sparse.linalg",
    },
)
