"""Kubernetes: pods of an indexed job, or of a JobSet, under a headless service."""

from __future__ import annotations

import os
import re
import socket

from ..addresses import spell
from ..detecting import Place
from .numbers import integer

PORT = 8476
"""Pods have addresses of their own, so that one port does for all jobs."""


class Kubernetes:
    """Reads what an indexed job, and a JobSet, say to their pods.

    A job does not say how many pods it has: its manifest sets ``DOVETAIL_NUM_PROCESSES``, and
    ``DOVETAIL_COORDINATOR_ADDRESS`` where pods do not find each other by the names that such jobs
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
        # A pod of an indexed job calls itself JOB-INDEX, and with a subdomain is found by that.
        host = socket.getfqdn()
        name, _, domain = host.partition(".")
        job = re.sub(rf"-{index}$", "", name)
        if job == name or not domain:
            raise ValueError(
                f"this pod is {host!r}, and not JOB-{index}.SUBDOMAIN: give the job's pods a "
                "'subdomain' with a headless service, or set DOVETAIL_COORDINATOR_ADDRESS"
            )
        return spell(f"{job}-0.{domain}", PORT)
