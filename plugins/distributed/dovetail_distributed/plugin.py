"""Manifest of the plugin ``distributed``: programs of several processes."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "distributed",
    requires=("backends", "jit", "sharding"),
    surfaces={
        "distributed": "dovetail_distributed",
        "experimental.multihost_utils": "dovetail_distributed.multihost",
    },
    primitives=("dovetail_distributed.local_arrays",),
    contributes={
        "ad.jvp": ("dovetail_distributed.rules.ad",),
        "ad.transpose": ("dovetail_distributed.rules.ad",),
        "batching.batch": ("dovetail_distributed.rules.batching",),
        "backends.stablehlo": ("dovetail_distributed.rules.backends",),
    },
    own_rules=(
        "dovetail_distributed.rules.ad",
        "dovetail_distributed.rules.batching",
        "dovetail_distributed.rules.backends",
    ),
    providers={"processes": "dovetail_distributed.runtime:RUNTIME"},
    variables=("coordinator_address", "job", "launcher", "num_processes", "process_id"),
    commands={"launch": "dovetail_distributed.launching.command"},
    options={
        name: f"dovetail_distributed.options:{name}"
        for name in (
            "compare_processes",
            "compare_timeout",
            "cpu_collectives_implementation",
            "enable_preemption_service",
            "enable_recoverability",
            "program_timeout",
        )
    },
    members={
        f"distributed.detectors.{name}": f"dovetail_distributed.launchers:{target}"
        for name, target in {
            "launch": "Launched",
            "slurm": "Slurm",
            "ompi": "OpenMPI",
            "mpich": "Hydra",
            "mpi4py": "Mpi4py",
            "tpu": "CloudTpu",
            "kubernetes": "Kubernetes",
        }.items()
    },
)
