"""Manifest of the plugin ``named_axes``: a high type and its two primitives."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "named_axes",
    requires=("hijax", "lax", "numpy"),
    surfaces={"named_axes": "acme_named_axes"},
    primitives=("acme_named_axes.arrays",),
)
