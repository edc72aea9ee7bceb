"""What several processes have in common, in a single one."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P
from dovetail.experimental import multihost_utils as m
from dovetail_backends import PjrtBackend
from dovetail_sharding import Mesh
from dovetail_xla.client import make_cpu_client
from dovetail_xla.distributed import mpi_collectives

WHOLE = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.fixture(scope="session")
def devices():
    """Eight devices of a client beside the default one."""
    backend = PjrtBackend("cpu", lambda: make_cpu_client(8), priority=0, available=lambda: "")
    return backend.local_devices()


@pytest.fixture
def mesh(devices):
    return Mesh(np.array(devices).reshape(4, 2), ("x", "y"))


@pytest.fixture
def x(mesh):
    return dt.device_put(WHOLE, NamedSharding(mesh, P("x", "y")))


def test_gathering(x):
    tree = {"a": WHOLE, "b": dnp.ones(3), "c": 2, "x": x}
    for result in (m.broadcast_one_to_all(tree), m.broadcast_one_to_all(tree, is_source=False)):
        assert all(type(v) is np.ndarray for v in result.values())
        assert result["c"].shape == ()
        np.testing.assert_array_equal(result["x"], WHOLE)
    stacked, joined = m.process_allgather(tree), m.process_allgather(tree, tiled=True)
    shapes = {k: (stacked[k].shape, joined[k].shape) for k in tree}
    assert shapes == {
        "a": ((1, 8, 4), (8, 4)), "b": ((1, 3), (3,)), "c": ((1,), ()), "x": ((1, 8, 4), (8, 4)),
    }  # fmt: skip
    np.testing.assert_array_equal(stacked["x"][0], WHOLE)
    assert type(joined["c"]) is np.ndarray


def test_waiting():
    m.sync_global_devices("a barrier")
    m.assert_equal({"a": WHOLE}, "differ")
    assert m.reached_preemption_sync_point(3) is False
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        m.sync_global_devices(3)
    with pytest.raises(RuntimeError, match="was not started as one of several"):
        m.live_devices(dt.devices())
    error = m.ProcessFailureError({dt.devices()[0]})
    assert error.failed_devices == {dt.devices()[0]} and "the devices [0]" in str(error)


def test_local_and_global(mesh, x):
    place = NamedSharding(mesh, P("x"))
    a, b = m.host_local_array_to_global_array((WHOLE, {"b": x}), mesh, (P("x"), P()))
    assert a.sharding == place and b["b"].is_fully_replicated
    np.testing.assert_array_equal(a, WHOLE)
    np.testing.assert_array_equal(b["b"], WHOLE)
    back = m.global_array_to_host_local_array({"x": x, "n": WHOLE}, mesh, P("x"))
    assert back["x"] is x and back["n"].sharding == place
    f = dt.jit(lambda v: m.host_local_array_to_global_array(v, mesh, P("x")) * 2)
    assert f(WHOLE).sharding == place
    g = dt.jit(lambda v: m.global_array_to_host_local_array(v, mesh, P("x")) * 2)
    np.testing.assert_array_equal(g(x), WHOLE * 2)


def test_errors(mesh):
    for f in (m.host_local_array_to_global_array, m.global_array_to_host_local_array):
        with pytest.raises(ValueError, match="pspecs has None of type NoneType; give a Partition"):
            f(WHOLE, mesh, None)
        with pytest.raises(ValueError, match="pspecs must be a tree prefix of the arrays"):
            f((WHOLE, WHOLE), mesh, (P(),))
    with pytest.raises(ValueError, match="has size 7, which 4 shards do not divide"):
        m.host_local_array_to_global_array(WHOLE[:7], mesh, P("x"))


def test_collectives_by_mpi_need_a_library(monkeypatch):
    monkeypatch.delenv("MPITRAMPOLINE_LIB", raising=False)
    with pytest.raises(RuntimeError, match=r"set the environment variable MPITRAMPOLINE_LIB"):
        mpi_collectives()
    with pytest.raises(ValueError, match="expected one of gloo, mpi, none, got 'tcp'"):
        dt.config.update("cpu_collectives_implementation", "tcp")


def test_not_joined():
    assert dt.numpy.ones(1).sum() == 1  # which starts a backend
    assert not dt.distributed.is_initialized() and dt.distributed.live_processes() == [0]
    dt.distributed.shutdown()
    with pytest.raises(RuntimeError, match="this process is alone"):
        dt.distributed.client()
    with pytest.raises(RuntimeError, match="this process is alone"):
        dt.distributed.store()
    with pytest.raises(RuntimeError, match="comes too late: cpu is in use already"):
        dt.distributed.initialize("127.0.0.1:1234", 1, 0)
