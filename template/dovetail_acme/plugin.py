"""The manifest: what this plugin adds, before any of it is imported."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "acme",
    requires=(
        "lax",  # with primitive, transformation
        "backends",  # with backend
        "hijax",  # with type
        "numpy",  # with type
    ),
    surfaces={"acme": "dovetail_acme"},
    primitives=(  # with primitive, type
        "dovetail_acme.primitive.shift",  # with primitive
        "dovetail_acme.type.operations",  # with type
    ),  # with primitive, type
    tables={  # with transformation
        "acme.bounds": "dovetail_acme.transformation.bounds:bounds_rules",  # with transformation
    },  # with transformation
    contributes={  # with primitive, transformation
        "ad.jvp": ("dovetail_acme.primitive.rules.jvp",),  # with primitive
        "ad.transpose": ("dovetail_acme.primitive.rules.transpose",),  # with primitive
        "batching.batch": ("dovetail_acme.primitive.rules.batch",),  # with primitive
        "backends.stablehlo": ("dovetail_acme.primitive.rules.stablehlo",),  # with primitive
        "backends.reference": ("dovetail_acme.primitive.rules.reference",),  # with primitive
        "acme.bounds": ("dovetail_acme.transformation.rules",),  # with transformation
    },  # with primitive, transformation
    types=("dovetail_acme.type.polar",),  # with type
    backends={"acme": "dovetail_acme.backend.interpreter:BACKEND"},  # with backend
    samples=("dovetail_acme.primitive.samples",),  # with primitive
    laws={"acme.bounds": "dovetail_acme.transformation.law:bounds_law"},  # with transformation
)
