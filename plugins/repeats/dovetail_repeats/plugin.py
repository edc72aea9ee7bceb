"""Manifest of the plugin ``repeats``: parts of a program that repeat are compiled once."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "repeats",
    requires=("backends", "cost", "jit"),
    primitives=("dovetail_repeats.primitive",),
    options={"compile_repeats_once": "dovetail_repeats.options:compile_repeats_once"},
    passes={"repeats": "dovetail_repeats.repeats:REPEATS"},
    contributes={
        "backends.stablehlo": ("dovetail_repeats.rules.backends",),
        "backends.reference": ("dovetail_repeats.rules.backends",),
    },
    samples=("dovetail_repeats.samples",),
    own_rules=("dovetail_repeats.rules.backends",),
)
