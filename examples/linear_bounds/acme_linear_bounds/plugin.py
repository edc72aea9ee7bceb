"""Manifest of the plugin ``linear_bounds``: a transformation and its rules."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "linear_bounds",
    requires=("lax", "ad", "batching"),
    names={"linear_bounds": "acme_linear_bounds:linear_bounds"},
    tables={"linear_bounds.affine": "acme_linear_bounds.bounds:affine_rules"},
    contributes={"linear_bounds.affine": ("acme_linear_bounds.rules",)},
    laws={"linear_bounds.affine": "acme_linear_bounds.law:bounds_law"},
)
