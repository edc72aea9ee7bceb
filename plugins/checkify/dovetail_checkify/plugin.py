"""Manifest of the plugin ``checkify``: checks whose failures are values; search for nan and inf."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "checkify",
    requires=("backends", "batching", "jit", "lax"),
    names={
        "debug_infs": "dovetail_checkify.debugging.options:debug_infs",
        "debug_nans": "dovetail_checkify.debugging.options:debug_nans",
    },
    options={
        "debug_infs": "dovetail_checkify.debugging.options:debug_infs",
        "debug_nans": "dovetail_checkify.debugging.options:debug_nans",
    },
    providers={"leak_checker": "dovetail_checkify.debugging.leaks"},
    surfaces={"experimental.checkify": "dovetail_checkify.public"},
    primitives=("dovetail_checkify.primitive",),
    tables={"checkify.checks": "dovetail_checkify.tables:check_rules"},
    laws={"checkify.checks": "dovetail_checkify.laws:checks_law"},
    contributes={
        "eval": ("dovetail_checkify.rules.backends",),
        "batching.batch": ("dovetail_checkify.rules.batch",),
        "sharding.infer": ("dovetail_checkify.rules.sharding",),
        "backends.stablehlo": ("dovetail_checkify.rules.backends",),
        "backends.reference": ("dovetail_checkify.rules.backends",),
    },
    own_rules=(
        "dovetail_checkify.rules.backends",
        "dovetail_checkify.rules.batch",
    ),
    samples=("dovetail_checkify.samples",),
)
