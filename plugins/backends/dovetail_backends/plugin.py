"""Manifest of the plugin ``backends``: where programs run, and the arrays they run on."""

from dovetail_core.manifest import Manifest, names_of

MANIFEST = Manifest(
    "backends",
    names=names_of("dovetail_backends.public"),
    surfaces={"dlpack": "dovetail_backends.dlpack"},
    rows=("dovetail_backends.placement",),
    tables={
        "backends.stablehlo": "dovetail_backends.tables:stablehlo_rules",
        "backends.reference": "dovetail_backends.tables:reference_rules",
    },
    contributes={
        "eval": ("dovetail_backends.placement",),
        "ad.jvp": ("dovetail_backends.cells.jvp",),
        "ad.transpose": ("dovetail_backends.cells.transpose",),
        "batching.batch": ("dovetail_backends.cells.batch",),
        "backends.stablehlo": ("dovetail_backends.cells.stablehlo",),
    },
    types=("dovetail_backends.array",),
    backends={
        "cpu": "dovetail_backends.cpu:BACKEND",
        "cuda": "dovetail_backends.cuda:BACKEND",
        "rocm": "dovetail_backends.rocm:BACKEND",
        "tpu": "dovetail_backends.tpu:BACKEND",
        "reference": "dovetail_backends.reference:REFERENCE",
    },
    options={
        "default_device": "dovetail_backends.selection:default_device",
        "platforms": "dovetail_backends.selection:platforms",
        "num_cpu_devices": "dovetail_backends.cpu:num_cpu_devices",
    },
    laws={
        "backends.stablehlo": "dovetail_backends.laws:lower_law",
        "backends.reference": "dovetail_backends.laws:reference_law",
    },
)
