"""What the backends' tests share: arrays, and a platform of several devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dovetail_backends import PjrtBackend, device_put
from dovetail_xla.client import make_cpu_client

DTYPES = [
    np.dtype(t)
    for t in (
        *"bool int8 int16 int32 uint8 uint16 uint32 float16 float32 complex64".split(),
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e4m3fnuz,  # whose character is that of NumPy's longest complex numbers
        ml_dtypes.int4,
    )
]


@pytest.fixture(scope="session")
def devices() -> list[Any]:
    """Four devices of a client beside the default one, whatever the default one has."""
    backend = PjrtBackend("cpu", lambda: make_cpu_client(4), priority=0, available=lambda: "")
    return backend.local_devices()


@pytest.fixture
def put() -> Callable[..., Any]:
    """A value as an array on the default device, with the dtype that NumPy gives it or a given."""
    return lambda value, dtype=np.float32: device_put(np.asarray(value, dtype))


@pytest.fixture(params=DTYPES, ids=lambda dtype: dtype.name)
def value(request: pytest.FixtureRequest) -> np.ndarray:
    """A NumPy array of each dtype."""
    return np.asarray([[0, 1, 2], [3, 1, 0]]).astype(request.param)
