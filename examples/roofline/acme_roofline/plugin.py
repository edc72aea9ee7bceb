"""Manifest of the plugin ``roofline``: costs by line, on the rule table of another plugin."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "roofline",
    requires=("experimental", "jit"),
    names={"roofline": "acme_roofline:roofline"},
)
