"""Manifest of the plugin ``interval``: a transformation, its rules for ``lax``, a primitive."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "interval",
    requires=("lax",),
    names={"interval": "acme_interval:interval"},
    primitives=("acme_interval.gudermannian",),
    tables={"interval.bounds": "acme_interval.bounds:bounds_rules"},
    contributes={"interval.bounds": ("acme_interval.rules",)},
    samples=("acme_interval.samples",),
    laws={"interval.bounds": "acme_interval.laws:bounds_law"},
)
