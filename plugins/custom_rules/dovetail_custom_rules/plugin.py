"""Manifest of the plugin ``custom_rules``: functions with rules of their authors."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "custom_rules",
    requires=("ad", "batching", "lax"),
    names={
        **names_of("dovetail_custom_rules.public"),
        "lax.custom_linear_solve": "dovetail_custom_rules:custom_linear_solve",
        "lax.custom_root": "dovetail_custom_rules:custom_root",
    },
    surfaces={
        "custom_batching": "dovetail_custom_rules.custom_batching",
        "custom_derivatives": "dovetail_custom_rules.custom_derivatives",
    },
)
