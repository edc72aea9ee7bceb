"""Manifest of the plugin ``taylor``: two functions over the series of another plugin."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "taylor",
    requires=("experimental", "lax"),
    names={"taylor": "acme_taylor:taylor", "solution": "acme_taylor:solution"},
)
