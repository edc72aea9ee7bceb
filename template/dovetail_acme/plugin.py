"""The manifest: what this plugin adds, before any of it is imported."""

from dovetail_core.registry.manifest import Manifest

MANIFEST = Manifest(
    "acme",
    surfaces={"acme": "dovetail_acme"},
    primitives=("dovetail_acme.primitives",),
    contributes={
        "ad.jvp": ("dovetail_acme.rules.jvp",),
        "ad.transpose": ("dovetail_acme.rules.transpose",),
        "batching.batch": ("dovetail_acme.rules.batch",),
        "backends.stablehlo": ("dovetail_acme.rules.stablehlo",),
        "backends.reference": ("dovetail_acme.rules.reference",),
    },
    samples=("dovetail_acme.samples",),
)
