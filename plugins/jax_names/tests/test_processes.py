"""What JAX has for programs of several processes, in one; and arrays in files (orbax, flax)."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail_jax_names.modules.experimental.array_serialization.serialization as files
import dovetail_jax_names.modules.experimental.colocated_python as colocated
from dovetail import numpy as dnp
from dovetail.sharding import Mesh


def test_functions_beside_devices() -> None:
    @colocated.colocated_python
    def f(x: Any) -> Any:
        return x + 1

    assert f(dnp.arange(2)).tolist() == [1, 2] and f.__name__ == "f"
    device = dovetail.devices()[0]
    assert f.specialize(devices=[device])(np.arange(2)).devices() == {device}
    assert colocated.colocated_cpu_devices((device,)) == [device]
    mesh = Mesh(np.array([device]), ("x",))
    assert colocated.colocated_cpu_devices(mesh) is mesh
    with pytest.raises(ValueError, match="is no CPU, and Dovetail does not know which CPU devices"):
        colocated.colocated_cpu_devices([SimpleNamespace(platform="tpu")])
    assert colocated.colocated_python_class(dict) is dict


class Store:
    """Stands in for tensorstore: arrays by path."""

    arrays: dict[str, Any] = {}

    def __init__(self, spec: Any) -> None:
        self.path = spec["kvstore"]["path"]

    @classmethod
    async def open(cls, spec: Any, **how: Any) -> Store:
        if "create" in how:
            assert spec["metadata"]["chunks"] and spec["dtype"]
        return cls(spec)

    async def write(self, value: Any) -> None:
        if self.path.endswith("broken"):
            raise OSError("no space")
        self.arrays[self.path] = value

    async def read(self) -> Any:
        return self.arrays[self.path]


def test_arrays_in_files(monkeypatch: Any) -> None:
    store = SimpleNamespace(Spec=lambda spec: spec, open=Store.open)
    monkeypatch.setitem(sys.modules, "tensorstore", store)
    manager = files.GlobalAsyncCheckpointManager(timeout_secs=3)
    assert isinstance(manager, files.GlobalAsyncCheckpointManagerBase)
    done: list[int] = []
    values = [dnp.arange(3), dnp.ones((2, 2))]
    manager.serialize_with_paths(values, ["/a", "/b"], on_commit_callback=lambda: done.append(1))
    manager.wait_until_finished()
    assert done == [1]
    where = [dovetail.devices()[0]] * 2
    a, b = manager.deserialize_with_paths(where, ["/a", "/b"], [(5,), (1, 2)], ["float32", None])
    assert a.tolist() == [0, 1, 2, 0, 0] and a.dtype == "float32" and b.tolist() == [[1, 1]]
    manager.serialize_with_paths(values[:1], ["/broken"])
    with pytest.raises(OSError, match="no space"):
        manager.wait_until_finished()
    manager.check_for_errors()


def test_places_of_arrays() -> None:
    spec = files.get_tensorstore_spec
    assert spec("/a/./b") == {"driver": "zarr", "kvstore": {"driver": "file", "path": "/a/b"}}
    assert spec("gs://bucket/a/b")["kvstore"] == {
        "driver": "gcs",
        "bucket": "bucket",
        "path": "a/b",
    }
    assert spec("/a/b", ocdbt=True, driver="zarr3") == {
        "driver": "zarr3", "kvstore": {"driver": "ocdbt", "base": "file:///a", "path": "b"},
    }  # fmt: skip
    assert spec("/a", arr=np.ones((0, 2)))["metadata"]["chunks"] == [1, 2]


def test_under_the_hook(python: Any) -> None:
    code = """
import dovetail.jax, warnings
from jax.experimental import multihost_utils, pjit, colocated_python, array_serialization
import jax.experimental.colocated_python as cp
from jax.experimental.colocated_python import func, serialization
from jax.experimental.array_serialization import serialization
print(cp is colocated_python, multihost_utils.process_allgather(3))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(pjit.pjit is __import__("jax").jit, [w.category.__name__ for w in told])
    from jax.experimental.shard_map import shard_map
    import dovetail.experimental.shard_map as older
    print(shard_map is older.shard_map, str(told[1].message).rpartition("Use ")[2])
"""
    done = python("-c", code)
    told = "True ['DeprecationWarning']\nTrue jax.shard_map.\n"
    assert done.stdout == f"True [3]\n{told}", done.stderr
