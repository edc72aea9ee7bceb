"""``dovetail launch``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from ..detecting import Place

COORDINATOR = "DOVETAIL_COORDINATOR_ADDRESS"
PROCESSES = "DOVETAIL_NUM_PROCESSES"
PROCESS = "DOVETAIL_PROCESS_ID"
JOB = "DOVETAIL_JOB"
"""A word that the processes of one job have in common, and other jobs' do not have."""
LAUNCHER = "DOVETAIL_LAUNCHER"
"""The process that started this one, if it is its parent."""


def is_orphan() -> Callable[[], bool]:
    """What says whether the command that started this process has ended meanwhile."""
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
