"""What processes have in common."""

import numpy as np
from common import raises, start

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P
from dovetail.experimental import multihost_utils as mu

start()
me = dt.process_index()
mesh = dt.make_mesh((4,), ("x",))
grid = dt.make_mesh((2, 2), ("x", "y"))
x = dt.make_array_from_callback((8,), NamedSharding(mesh, P("x")), lambda i: np.arange(8.0)[i])
mu.sync_global_devices("start")
raises(
    AssertionError, "name mismatch: process 0 syncs 'b'", mu.sync_global_devices, "a" if me else "b"
)

tree = {"a": np.arange(3) + me, "b": dnp.ones(2) * me, "c": me, "d": True}
found = mu.broadcast_one_to_all(tree)
assert {k: v.tolist() for k, v in found.items()} == {"a": [0, 1, 2], "b": [0, 0], "c": 0, "d": True}
assert mu.broadcast_one_to_all(np.arange(3) + me, is_source=me == 1).tolist() == [1, 2, 3]
raises(TypeError, "dtype <U3 is not a valid array value", mu.broadcast_one_to_all, "abc")
raises(TypeError, "dtype <U3 is not a valid array value", mu.process_allgather, "abc")
raises(ValueError, "is_source is true in 2 processes", mu.broadcast_one_to_all, 1, True)
assert mu.process_allgather(np.arange(2) + 10 * me).tolist() == [[0, 1], [10, 11]]
assert mu.process_allgather(np.arange(2) + 10 * me, tiled=True).tolist() == [0, 1, 10, 11]
assert mu.process_allgather(me).tolist() == mu.process_allgather(me, tiled=True).tolist() == [0, 1]
raises(ValueError, "Give tiled=True", mu.process_allgather, x)
mu.assert_equal({"a": np.arange(3), "x": x})
text = raises(
    AssertionError, "steps: assert_equal", mu.assert_equal, {"a": np.arange(3) + me}, "steps"
)
assert "process 0 has [0 1 2] of int64[3]" in text and "process 1 has [1 2 3] of int64[3]" in text

g = mu.host_local_array_to_global_array(np.arange(4.0) + 10 * me, mesh, P("x"))
assert mu.process_allgather(g, tiled=True).tolist() == [0, 1, 2, 3, 10, 11, 12, 13]
assert mu.host_local_array_to_global_array(np.ones((2, 6)), grid, P("x", "y")).shape == (4, 6)
assert mu.host_local_array_to_global_array(np.ones((2, 6)), grid, P("y", "x")).shape == (2, 12)
back = mu.global_array_to_host_local_array(g, mesh, P("x"))
assert (
    back.tolist() == (np.arange(4.0) + 10 * me).tolist() and back.sharding.mesh == mesh.local_mesh
)
assert mu.global_array_to_host_local_array(g, mesh, P()).shape == (8,)
raises(
    NotImplementedError,
    "outside of jit",
    dt.jit(lambda v: mu.global_array_to_host_local_array(v, mesh, P("x"))),
    g,
)


auto = dt.sharding.Mesh(mesh.devices, ("x",))


def doubled(v):
    whole = mu.host_local_array_to_global_array(v, auto, P("x"))
    return mu.global_array_to_host_local_array(dt.jit(lambda w: w * 2)(whole), auto, P("x"))


v = np.arange(4, dtype=np.float32) + me
assert dt.grad(lambda v: (doubled(v) * v).sum())(v).tolist() == (4 * v).tolist()
whole = lambda v: mu.host_local_array_to_global_array(v, auto, P("x"))  # noqa: E731
assert dt.grad(lambda v: whole(v).sum())(v).tolist() == [1] * 4
assert dt.grad(lambda v: (whole(v) ** 2).sum())(v).tolist() == (2 * v).tolist()
assert dt.jvp(doubled, (v,), (v,))[1].tolist() == (2 * v).tolist()
assert dt.vmap(doubled)(np.stack([v, v])).tolist() == [(2 * v).tolist()] * 2
assert dt.eval_shape(doubled, v).shape == (4,)
assert mu.reached_preemption_sync_point(1) is False
with mu.live_devices(dt.devices()) as live:
    assert live == dt.devices()

store = dt.distributed.store()
store.set(f"name/{me}", f"process {me}")
assert store.get(f"name/{1 - me}", 10) == f"process {1 - me}"
store.wait_for_all("read names", 10)
raises(KeyError, "has a value", store.set, f"name/{me}", "again")
store.set(f"name/{me}", b"bytes", overwrite=True)
store.wait_for_all("written", 10)
assert store.items("name") == {"0": b"bytes", "1": b"bytes"}
raises(KeyError, "no process has set the key 'none'", store.get, "none")
raises(TimeoutError, "no process set the key 'none' within 0.1 s", store.get, "none", 0.1)
store.increment("count", 2)
store.wait_for_all("counted", 10)
assert store.increment("count", 0) == 4
store.wait_for_all("read", 10)
store.delete("name")
store.wait_for_all("deleted", 10)
raises(KeyError, "no process has set", store.get, f"name/{me}")
if me == 0:
    raises(TimeoutError, "waited 0.2 s at 'alone'", store.wait_for_all, "alone", 0.2)
assert dt.distributed.client() is not None

# Meshes that processes divide in other ways.
devices = np.array(dt.devices())
mixed = dt.sharding.Mesh(devices[[0, 2, 1, 3]], ("x",))  # the processes take turns
data = np.arange(4.0) + 10 * me
x = dt.make_array_from_process_local_data(NamedSharding(mixed, P("x")), data)
assert mu.process_allgather(x, tiled=True).tolist() == [0, 1, 10, 11, 2, 3, 12, 13]
uneven = dt.sharding.Mesh(devices[[0, 1, 2]], ("x",))
raises(
    ValueError,
    "not every process holds one block of the same size",
    dt.make_array_from_process_local_data,
    NamedSharding(uneven, P("x")),
    data,
)
corner = dt.sharding.Mesh(devices[[0, 2, 3, 1]].reshape(2, 2), ("x", "y"))
raises(
    ValueError,
    "holds one block",
    dt.make_array_from_process_local_data,
    NamedSharding(corner, P("x", "y")),
    np.ones((2, 2)),
)
raises(
    ValueError,
    "has 1 dimensions, and the data of this process 2",
    dt.make_array_from_process_local_data,
    NamedSharding(mixed, P("x")),
    np.ones((2, 2)),
    (4,),
)
