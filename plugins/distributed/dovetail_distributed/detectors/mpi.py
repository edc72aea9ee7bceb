"""MPI: processes that ``mpirun`` or ``mpiexec`` started, and those where mpi4py works."""

from __future__ import annotations

import os
import re
import socket
from importlib import import_module, util
from typing import Any

from ..addresses import spell
from ..detecting import Place
from .numbers import integer, port_of


class OpenMPI:
    """Reads the variables of Open MPI. Version 4 says where its daemon is, which is where process 0
    is taken to be; version 5 does not, unless all processes are on one machine."""

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

    It does not say where process 0 is, unless all processes are on one machine.
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
    """Asks MPI itself, by the package mpi4py, where it is named."""

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
