"""Manifest of the plugin ``repeats``: parts of a program that repeat are compiled once."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "repeats",
    requires=("backends", "jit", "remat"),
    primitives=("dovetail_repeats.primitive",),
    options={"compile_repeats_once": "dovetail_repeats.settings:compile_repeats_once"},
    passes={"repeats": "dovetail_repeats.passing:REPEATS"},
    contributes={
        "backends.stablehlo": ("dovetail_repeats.rules.running",),
        "backends.reference": ("dovetail_repeats.rules.running",),
    },
    samples=("dovetail_repeats.samples",),
    own_rules=("dovetail_repeats.rules.running",),
)
