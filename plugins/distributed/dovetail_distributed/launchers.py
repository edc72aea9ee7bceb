"""Detectors of launchers: ``dovetail launch``, Slurm, MPI, Kubernetes and cloud TPUs."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module, util
from typing import Any

from .addresses import spell
from .detecting import Place, integer, port_of

COORDINATOR = "DOVETAIL_COORDINATOR_ADDRESS"
PROCESSES = "DOVETAIL_NUM_PROCESSES"
PROCESS = "DOVETAIL_PROCESS_ID"
JOB = "DOVETAIL_JOB"
"""An identifier that the processes of one job share, and other jobs' do not."""
LAUNCHER = "DOVETAIL_LAUNCHER"
"""The process that started this one, if it is its parent."""


def is_orphan() -> Callable[[], bool]:
    """A function that returns True once the command that started this process has ended."""
    parent = os.getppid()
    launched = os.environ.get(LAUNCHER) == str(parent)
    return lambda: launched and os.getppid() != parent


class Launched:
    """Reads the variables that the command sets."""

    rank = 0
    only_named = False

    def is_present(self) -> bool:
        return COORDINATOR in os.environ

    def place(self, timeout: float) -> Place:
        env = os.environ
        result = Place(env[COORDINATOR], int(env[PROCESSES]), int(env[PROCESS]))
        return replace(result, job=env.get(JOB))


_NODES = ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")


class Slurm:
    """Reads the variables of the step."""

    rank = 20
    only_named = False

    def is_present(self) -> bool:
        """In a step: a script of ``sbatch`` has no number of its own among tasks."""
        return {"SLURM_JOB_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"} <= set(os.environ)

    def place(self, timeout: float) -> Place:
        nodes = next((os.environ[n] for n in _NODES if n in os.environ), "")
        if not nodes:
            raise ValueError(f"Slurm sets none of {', '.join(_NODES)}: start the program by srun")
        job = f"{os.environ['SLURM_JOB_ID']}.{os.environ.get('SLURM_STEP_ID', 0)}"
        return Place(
            spell(first_host(nodes), port_of(job)),
            integer("SLURM_STEP_NUM_TASKS"),
            integer("SLURM_PROCID"),
            (integer("SLURM_LOCALID"),) if "SLURM_LOCALID" in os.environ else None,
        )


def first_host(nodes: str) -> str:
    """The first host of a list in Slurm's notation: ``gpu003`` of ``gpu[003-007,9],login1``.

    Raises:
        ValueError: it is no such list.
    """
    result = re.match(r"([^\[\],\s]*)(?:\[([^\]]*)\])?([^,\s]*)", nodes.strip())
    prefix, numbers, suffix = result.groups() if result else ("", None, "")
    if numbers is not None:
        number = re.match(r"\d+", numbers)
        if number is None:
            raise ValueError(f"the list of Slurm's nodes {nodes!r} is not understood")
        return f"{prefix}{number.group()}{suffix.partition('[')[0]}"
    if not prefix:
        raise ValueError(f"the list of Slurm's nodes {nodes!r} is not understood")
    return prefix


class OpenMPI:
    """Reads the variables of Open MPI. Version 4 has the address of its daemon, which counts as
    that of process 0; version 5 does not, unless all processes are on one machine."""

    rank = 10
    only_named = False

    def is_present(self) -> bool:
        return "OMPI_COMM_WORLD_RANK" in os.environ

    def place(self, timeout: float) -> Place:
        env = os.environ
        uri = env.get("OMPI_MCA_orte_hnp_uri", "")  # 1531576320.0;tcp://10.0.0.1,192.168.0.1:38911
        host, port = _host(uri), port_of(uri.partition(";")[0] or env.get("PMIX_NAMESPACE"))
        return Place(
            None if host is None else spell(host, port),
            integer("OMPI_COMM_WORLD_SIZE"),
            integer("OMPI_COMM_WORLD_RANK"),
            (integer("OMPI_COMM_WORLD_LOCAL_RANK"),),
        )


def _host(uri: str) -> str | None:
    sizes = [os.environ.get(f"OMPI_COMM_WORLD_{n}SIZE") for n in ("", "LOCAL_")]
    if sizes[0] == sizes[1]:
        return "127.0.0.1"  # all processes are on this machine
    result = re.search(r";tcp://([^,:]+)", uri) or re.search(r";tcp6://\[([^\],]+)", uri)
    return None if result is None else result.group(1)


class Hydra:
    """Reads the variables of Hydra, the launcher of MPICH, MVAPICH and Intel's MPI.

    It does not have the address of process 0, unless all processes are on one machine.
    """

    rank = 12
    only_named = False

    def is_present(self) -> bool:
        return {"PMI_RANK", "PMI_SIZE"} <= set(os.environ)

    def place(self, timeout: float) -> Place:
        local = [os.environ.get(n) for n in ("MPI_LOCALNRANKS", "MPI_LOCALRANKID")]
        together = local[0] == os.environ["PMI_SIZE"]
        port = port_of(os.environ.get("HYDRA_JOBID") or os.getppid())
        return Place(
            spell("127.0.0.1", port) if together else None,
            integer("PMI_SIZE"),
            integer("PMI_RANK"),
            (int(local[1]),) if local[1] else None,
        )


class Mpi4py:
    """Reads the position from MPI itself, by the package mpi4py; used by its name only."""

    rank = 90
    only_named = True

    def is_present(self) -> bool:
        return util.find_spec("mpi4py") is not None

    def place(self, timeout: float) -> Place:
        mpi: Any = import_module("mpi4py.MPI")
        world = mpi.COMM_WORLD
        host = socket.gethostname()
        try:
            host = socket.gethostbyname(host)
        except OSError:
            host = "127.0.0.1"
        first = world.bcast((host, port_of((host, os.getpid()))), root=0)
        near = world.Split_type(mpi.COMM_TYPE_SHARED)
        return Place(spell(*first), world.Get_size(), world.Get_rank(), (near.Get_rank(),))


PORT = 8476
"""Pods have addresses of their own, so that one port does for all jobs."""


class Kubernetes:
    """Reads the variables of an indexed job, and of a JobSet.

    They do not have the number of pods: the job's manifest sets ``DOVETAIL_NUM_PROCESSES``, and
    ``DOVETAIL_COORDINATOR_ADDRESS`` if pods do not find each other by the names that such jobs
    give them (``JOB-INDEX.SUBDOMAIN``).
    """

    rank = 40
    only_named = False

    def is_present(self) -> bool:
        env = os.environ
        return "KUBERNETES_SERVICE_HOST" in env and "JOB_COMPLETION_INDEX" in env

    def place(self, timeout: float) -> Place:
        index = integer("JOB_COMPLETION_INDEX")
        count = os.environ.get("DOVETAIL_NUM_PROCESSES")
        if count is None:
            raise ValueError(
                "the Kubernetes job does not say how many pods it has: set DOVETAIL_NUM_PROCESSES "
                "in its template to what its 'completions' says"
            )
        return Place(self._coordinator(index), int(count), index)

    def _coordinator(self, index: int) -> str:
        # A pod of an indexed job is named JOB-INDEX, and reachable by that with a subdomain.
        host = socket.getfqdn()
        name, _, domain = host.partition(".")
        job = re.sub(rf"-{index}$", "", name)
        if job == name or not domain:
            raise ValueError(
                f"this pod is {host!r}, and not JOB-{index}.SUBDOMAIN: give the job's pods a "
                "'subdomain' with a headless service, or set DOVETAIL_COORDINATOR_ADDRESS"
            )
        return spell(f"{job}-0.{domain}", PORT)


TPU_PORT = 8476
_METADATA = "http://metadata.google.internal/computeMetadata/v1/instance/attributes/"
_NETWORK = ("worker-network-endpoints", "agent-worker-number")


class CloudTpu:
    """Reads the variables of Kubernetes' engine, or asks the machine's metadata."""

    rank = 30
    only_named = False

    def is_present(self) -> bool:
        if "TPU_WORKER_HOSTNAMES" in os.environ and "TPU_WORKER_ID" in os.environ:
            return True
        return "TPU_SKIP_MDS_QUERY" not in os.environ and os.path.exists("/dev/accel0")

    def place(self, timeout: float) -> Place:
        if "TPU_WORKER_HOSTNAMES" in os.environ:
            hosts = os.environ["TPU_WORKER_HOSTNAMES"].split(",")
            index = integer("TPU_WORKER_ID")
        else:
            endpoints, number = [metadata(name, timeout) for name in _NETWORK]
            hosts = [worker.split(":")[2] for worker in endpoints.split(",")]
            index = int(number)
        slices = int(os.environ.get("MEGASCALE_NUM_SLICES", 1))
        own = int(os.environ.get("MEGASCALE_SLICE_ID", 0))
        first = (
            os.environ.get("MEGASCALE_COORDINATOR_ADDRESS", hosts[0]) if slices > 1 else hosts[0]
        )
        address: Any = spell(first.partition(":")[0], TPU_PORT)
        return Place(address, len(hosts) * slices, own * len(hosts) + index)


def metadata(name: str, timeout: float) -> str:
    """An attribute of the machine that this process runs on.

    Raises:
        ValueError: the metadata server does not answer.
    """
    from urllib.error import URLError
    from urllib.request import Request, urlopen  # takes long

    request = Request(_METADATA + name, headers={"Metadata-Flavor": "Google"})
    try:
        with urlopen(request, timeout=min(timeout, 20)) as answer:
            return answer.read().decode()
    except (URLError, OSError) as e:
        raise ValueError(
            f"the machine's metadata do not say its {name}: {e}. Give initialize its arguments, or "
            "cluster_detection_method='deactivate'"
        ) from None
