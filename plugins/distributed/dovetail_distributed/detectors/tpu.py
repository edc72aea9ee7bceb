"""Cloud TPUs: what the machines of a slice, or of several, are told."""

from __future__ import annotations

import os
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from ..addresses import spell
from ..detecting import Place
from .numbers import integer

PORT = 8476
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
        address: Any = spell(first.partition(":")[0], PORT)
        return Place(address, len(hosts) * slices, own * len(hosts) + index)


def metadata(name: str, timeout: float) -> str:
    """An attribute of the machine that this process runs on.

    Raises:
        ValueError: nobody tells.
    """
    asked = Request(_METADATA + name, headers={"Metadata-Flavor": "Google"})
    try:
        with urlopen(asked, timeout=min(timeout, 20)) as answer:
            return answer.read().decode()
    except (URLError, OSError) as e:
        raise ValueError(
            f"the machine's metadata do not say its {name}: {e}. Give initialize its arguments, or "
            "cluster_detection_method='deactivate'"
        ) from None
