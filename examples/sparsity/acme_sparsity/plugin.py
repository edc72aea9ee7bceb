"""Manifest of the plugin ``sparsity``: a transformation, its rules, and what is made of both."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "sparsity",
    requires=("lax", "numpy", "ad", "batching"),
    names={
        name: f"acme_sparsity:{name}"
        for name in ("sparsity", "color", "sparse_jacobian", "sparse_hessian")
    },
    tables={"sparsity.pattern": "acme_sparsity.pattern:pattern_rules"},
    contributes={"sparsity.pattern": ("acme_sparsity.rules",)},
    laws={"sparsity.pattern": "acme_sparsity.law:pattern_law"},
)
