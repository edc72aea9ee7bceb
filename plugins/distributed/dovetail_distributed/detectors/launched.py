"""``dovetail launch``."""

from __future__ import annotations

import os

from ..detecting import Place

COORDINATOR = "DOVETAIL_COORDINATOR_ADDRESS"
PROCESSES = "DOVETAIL_NUM_PROCESSES"
PROCESS = "DOVETAIL_PROCESS_ID"


class Launched:
    """Reads the variables that the command sets."""

    rank = 0
    only_named = False

    def is_present(self) -> bool:
        return COORDINATOR in os.environ

    def place(self, timeout: float) -> Place:
        env = os.environ
        return Place(env[COORDINATOR], int(env[PROCESSES]), int(env[PROCESS]))
