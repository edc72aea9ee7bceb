"""Manifest of the plugin ``cost``: the work of operations."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "cost",
    tables={"remat.cost": "dovetail_cost.model:cost_rules"},
    laws={"remat.cost": "dovetail_cost.laws:cost_law"},
)
