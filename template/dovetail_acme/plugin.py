"""The manifest: what this plugin adds, before any of it is imported."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest(
    "acme",
    surfaces={"acme": "dovetail_acme"},
    rows=("dovetail_acme.rows",),
    contributes={
        "ad.jvp": ("dovetail_acme.cells.jvp",),
        "ad.transpose": ("dovetail_acme.cells.transpose",),
        "batching.batch": ("dovetail_acme.cells.batch",),
        "backends.stablehlo": ("dovetail_acme.cells.stablehlo",),
        "backends.reference": ("dovetail_acme.cells.reference",),
    },
    samples=("dovetail_acme.samples",),
)
