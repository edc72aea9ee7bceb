"""Manifest of the plugin ``backends``: where programs run."""

from dovetail_core.manifest import Manifest

_SELECTION = (
    "default_backend devices local_devices device_count local_device_count process_index process_count"
).split()

MANIFEST = Manifest(
    "backends",
    names={n: f"dovetail_backends.selection:{n}" for n in _SELECTION},
    tables={
        "backends.stablehlo": "dovetail_backends.tables:stablehlo_rules",
        "backends.reference": "dovetail_backends.tables:reference_rules",
    },
    backends={"cpu": "dovetail_backends.cpu:BACKEND"},
)
