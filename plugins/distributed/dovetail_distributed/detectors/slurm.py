"""Slurm: processes that ``srun`` started."""

from __future__ import annotations

import os
import re

from ..addresses import spell
from ..detecting import Place
from .numbers import integer, port_of

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
    """The first of a list as Slurm writes it: ``gpu[003-007,9],login1`` begins with ``gpu003``.

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
