"""Manifest of the plugin ``stochastic``: a transformation and its rules for ``lax``."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "stochastic",
    requires=("batching", "jit", "lax", "numpy", "random"),
    names={"significant_digits": "acme_stochastic:significant_digits"},
    tables={"stochastic.rounding": "acme_stochastic.machine:rounding_rules"},
    contributes={"stochastic.rounding": ("acme_stochastic.rules",)},
    laws={"stochastic.rounding": "acme_stochastic.law:rounding_law"},
)
