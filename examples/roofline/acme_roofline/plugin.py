"""Manifest of the plugin ``roofline``: a rule table of costs, its rules, and the report."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "roofline",
    requires=("jit", "lax", "remat"),
    names={"roofline": "acme_roofline:roofline"},
    tables={"roofline.cost": "acme_roofline.cost:cost_rules"},
    contributes={"roofline.cost": ("acme_roofline.rules",)},
    laws={"roofline.cost": "acme_roofline.law:cost_law"},
)
