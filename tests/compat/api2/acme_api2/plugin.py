"""Manifest of the plugin ``api2``."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "api2",
    api=(2, 2),
    requires=("lax", "jit"),
    surfaces={"api2": "acme_api2"},
    tables={"api2.along": "acme_api2.along:along_rules", "api2.cost": "acme_api2.cost:cost_rules"},
    contributes={"api2.along": ("acme_api2.along_rules",), "api2.cost": ("acme_api2.cost_rules",)},
    options={"api2_counts": "acme_api2.cost:api2_counts"},
)
