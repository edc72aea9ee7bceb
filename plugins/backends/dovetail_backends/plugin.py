"""Manifest of the plugin ``backends``: devices that run programs, and the arrays on them."""

from dovetail_core import Manifest, names_of

MANIFEST = Manifest(
    "backends",
    names={
        **names_of("dovetail_backends.public"),
        "lax.device_put_p": "dovetail_backends.placement:device_put_p",
        "lax.sharding_constraint_p": "dovetail_backends.placement:sharding_constraint_p",
    },
    surfaces={"dlpack": "dovetail_backends.dlpack", "memory": "dovetail_backends.memory"},
    primitives=("dovetail_backends.placement",),
    tables={
        "backends.stablehlo": "dovetail_backends.tables:stablehlo_rules",
        "backends.reference": "dovetail_backends.tables:reference_rules",
    },
    contributes={
        "eval": ("dovetail_backends.placement",),
        "ad.jvp": ("dovetail_backends.rules.ad",),
        "ad.transpose": ("dovetail_backends.rules.ad",),
        "batching.batch": ("dovetail_backends.rules.batch",),
        "backends.stablehlo": ("dovetail_backends.rules.stablehlo",),
        "backends.reference": ("dovetail_backends.reference",),
    },
    types=("dovetail_backends.array",),
    backends={
        "cpu": "dovetail_backends.cpu:BACKEND",
        "cuda": "dovetail_backends.accelerators:CUDA_BACKEND",
        "rocm": "dovetail_backends.accelerators:ROCM_BACKEND",
        "tpu": "dovetail_backends.accelerators:TPU_BACKEND",
        "reference": "dovetail_backends.reference:REFERENCE",
    },
    options={
        **{
            name: f"dovetail_backends.guards:{name}"
            for name in (
                "array_garbage_collection_guard",
                "thread_guard",
                "transfer_guard",
                "transfer_guard_device_to_device",
                "transfer_guard_device_to_host",
                "transfer_guard_host_to_device",
            )
        },
        "default_device": "dovetail_backends.selection:default_device",
        "platforms": "dovetail_backends.selection:platforms",
        "num_cpu_devices": "dovetail_backends.cpu:num_cpu_devices",
        "keep_freed_memory": "dovetail_backends.cpu:keep_freed_memory",
    },
    samples=("dovetail_backends.samples",),
    laws={
        "backends.stablehlo": "dovetail_backends.laws:lower_law",
        "backends.reference": "dovetail_backends.laws:reference_law",
    },
)
