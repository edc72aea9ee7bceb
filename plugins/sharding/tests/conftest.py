"""What the tests share: eight devices, and meshes of them."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from dovetail_backends import PjrtBackend
from dovetail_pytest import is_full
from dovetail_sharding import AxisType, Mesh
from dovetail_testing.samples import Sample, all_samples
from dovetail_xla.client import make_cpu_client


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


AWKWARD = {"empty", "nonsmooth", "extreme", "open-ended", "wide", "random", "pooled"}


def _is_usable(sample: Sample) -> bool:
    if not sample.args or sample.tags & AWKWARD or sample.fixed:
        return False
    avals: Any = sample.avals
    arrays = all(isinstance(x, (np.ndarray, np.generic)) for x in sample.args)
    return arrays and not any(a.is_high or a.is_mutable for a in avals)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Laws of programs on meshes are tried on samples of arrays: ``FEW`` primitives, or all.

    Their modules say which are not meant (``is_left_out``), and ``SALT`` chooses others.
    """
    if "sample" not in metafunc.fixturenames:
        return
    module: Any = metafunc.module
    left_out = getattr(module, "is_left_out", lambda sample: False)
    result = [s for p, s in all_samples() if p in ("lax", "nn") and _is_usable(s)]
    result = [s for s in result if not left_out(s)]
    if not is_full(metafunc.config):
        salt = getattr(module, "SALT", "")
        result.sort(key=lambda s: zlib.crc32(f"{salt}{s.primitive.name} {s.label}".encode()))
        result = list({s.primitive.name: s for s in result}.values())[: module.FEW]
    metafunc.parametrize("sample", result, ids=str)
