"""Manifest of the plugin ``ad``: differentiation."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "ad",
    requires=("batching", "jit"),
    names=names_of("dovetail_ad.public"),
    surfaces={"ad": "dovetail_ad.cotangent_markers", "test_util": "dovetail_ad.test_util"},
    tables={
        "ad.jvp": "dovetail_ad.tables:jvp_rules",
        "ad.transpose": "dovetail_ad.tables:transpose_rules",
        "ad.partial_eval": "dovetail_ad.tables:partial_eval_rules",
    },
    contributes={
        "ad.jvp": ("dovetail_ad.forward",),
        "ad.transpose": ("dovetail_ad.region_transposition",),
        "ad.partial_eval": ("dovetail_ad.region_linearization",),
    },
    laws={
        "ad.jvp": "dovetail_ad.laws:jvp_law",
        "ad.transpose": "dovetail_ad.laws:transpose_law",
        "ad.partial_eval": "dovetail_ad.laws:partial_eval_law",
    },
)
