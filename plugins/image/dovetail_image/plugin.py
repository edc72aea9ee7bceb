"""Manifest of the plugin ``image``: resizing of images."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "image",
    requires=("jit", "lax", "numpy"),
    surfaces={"image": "dovetail_image"},
)
