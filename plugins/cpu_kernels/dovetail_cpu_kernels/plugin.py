"""Manifest of the plugin ``cpu_kernels``: other lowerings of primitives, for the CPU only."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "cpu_kernels",
    requires=("backends", "lax"),
    contributes={"backends.stablehlo": ("dovetail_cpu_kernels.rules.stablehlo",)},
    members={"backends.targets.cpu.cpu_kernels": "dovetail_cpu_kernels.library:targets"},
    options={
        name: f"dovetail_cpu_kernels.library:{name}" for name in ("cpu_kernels", "cpu_kernels_isa")
    },
)
