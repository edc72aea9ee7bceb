"""Manifest of the plugin ``laplacian``: a transformation without a rule for any operation."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "laplacian",
    requires=("lax", "ad", "batching"),
    names={
        "laplacian": "acme_laplacian:laplacian",
        "forward_laplacian": "acme_laplacian:forward_laplacian",
    },
    tables={"laplacian.forward": "acme_laplacian.forward:forward_rules"},
    contributes={"laplacian.forward": ("acme_laplacian.derived",)},
    laws={"laplacian.forward": "acme_laplacian.laws:forward_law"},
)
