"""What the tests share: eight devices, and meshes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_backends import PjrtBackend
from dovetail_core.xla.client import make_cpu_client
from dovetail_sharding import AxisType, Mesh


@pytest.fixture(scope="session")
def devices() -> list[Any]:
    """Eight devices of a client beside the default one."""
    backend = PjrtBackend("cpu", lambda: make_cpu_client(8), priority=0, available=lambda: "")
    return backend.local_devices()


@pytest.fixture
def mesh(devices) -> Mesh:
    return Mesh(np.array(devices).reshape(4, 2), ("x", "y"))


@pytest.fixture
def explicit(devices) -> Mesh:
    return Mesh(np.array(devices).reshape(4, 2), ("x", "y"), AxisType.Explicit)
