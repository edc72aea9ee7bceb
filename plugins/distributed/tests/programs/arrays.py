"""Arrays on devices of several processes."""

import copy
import os

import numpy as np
from common import raises, start

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P
from dovetail.experimental import multihost_utils as mu

start()
me, n = dt.process_index(), dt.process_count()
assert n == int(os.environ["DOVETAIL_NUM_PROCESSES"]) and dt.device_count() == 4
assert dt.distributed.is_initialized() and dt.distributed.live_processes() == list(range(n))
assert {d.process_index for d in dt.local_devices()} == {me} and dt.process_indices() == list(
    range(n)
)
mesh = dt.make_mesh((4,), ("x",))
split, copies = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
own = 4 // n
whole = np.arange(8, dtype=np.float32)
mine = whole.reshape(n, -1)[me]
x = dt.make_array_from_callback((8,), split, lambda i: whole[i])
assert not x.is_fully_addressable and not x.is_fully_replicated
assert len(x.addressable_shards) == own and len(x.global_shards) == 4
np.testing.assert_array_equal(np.concatenate([s.data for s in x.addressable_shards]), mine)
assert [s.data is None for s in x.global_shards].count(True) == 4 - own
assert repr(x) == "Array(<on other processes' devices>, shape=(8,), dtype=float32)"

# What needs the whole value says what to do.
text = raises(RuntimeError, "cannot be read here", np.asarray, x)
assert "process_allgather(x, tiled=True)" in text and f"of which this process has {own}" in text
raises(RuntimeError, "x.addressable_shards", x.tolist)
raises(ValueError, "process_allgather", dt.device_put, x, dt.local_devices()[0])
other = NamedSharding(dt.make_mesh((2,), ("x",), devices=dt.devices()[::2]), P("x"))
if n == 2:
    raises(ValueError, "arrays move among the same devices", dt.device_put, x, other)

# Functions, their results, and derivatives.
f = dt.jit(lambda x: dnp.sum(x * x))
assert (
    float(f(x)) == 140.0 and repr(f(x)) == "Array(140., dtype=float32)" and f(x).is_fully_replicated
)
for _ in range(3):
    assert float(f(x)) == 140.0
assert float(f(whole)) == 140.0
assert mu.process_allgather(dt.grad(f)(x), tiled=True).tolist() == (2 * whole).tolist()
assert mu.process_allgather(x + 1, tiled=True).tolist() == (whole + 1).tolist()
zeros = dt.jit(lambda: dnp.zeros(8), out_shardings=split)()
assert zeros.sharding == split and not zeros.is_fully_addressable
sums = dt.shard_map(lambda x: dt.lax.psum(x.sum(), "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
assert float(dt.jit(sums)(x)) == 28.0

# Placement.
y = dt.device_put(whole, split)
np.testing.assert_array_equal(np.concatenate([s.data for s in y.addressable_shards]), mine)
assert dt.device_put(x, copies).tolist() == whole.tolist()
assert dt.device_put(dt.device_put(x, copies), split).sharding == split
assert dt.device_put(3.0, copies).item() == 3.0
raises(
    AssertionError,
    "process 0 gives device_put [0. 1.] of float32[2]",
    dt.device_put,
    np.arange(2.0) + me,
    copies,
)

# Other meshes: of another shape, in another order, and of other sizes.
devices = np.array(dt.devices())
square = dt.sharding.Mesh(devices.reshape(2, 2), ("p", "q"))
mixed = dt.sharding.Mesh(devices[[1, 3, 0, 2]], ("x",))
wide = np.arange(48, dtype=np.float32).reshape(12, 4)
places = [
    NamedSharding(m, s)
    for m, specs in (
        (mesh, (P("x"), P())),
        (square, (P("p", "q"), P(("q", "p")))),
        (mixed, (P("x"),)),
    )
    for s in specs
]
for before in places:
    w = dt.make_array_from_callback(wide.shape, before, lambda i: wide[i])
    for after in places:
        moved = dt.device_put(w, after)
        assert moved.sharding == after, (before, after)
        for part in moved.addressable_shards:
            np.testing.assert_array_equal(part.data, wide[part.index])

far = dt.device_put(np.arange(3.0), dt.devices()[-1 if me == 0 else 0])
assert far.addressable_shards == [] and "other processes" in repr(far)
raises(RuntimeError, "of which this process has 0", np.asarray, far)
z = dt.make_array_from_process_local_data(split, mine)
np.testing.assert_array_equal(mu.process_allgather(z, tiled=True), whole)
assert dt.make_array_from_process_local_data(split, whole, (8,)).shape == (8,)
assert dt.make_array_from_process_local_data(copies, whole).tolist() == whole.tolist()
if n == 2:
    raises(ValueError, "must be 12", dt.make_array_from_process_local_data, split, whole, (24,))
a, b = dt.make_array_from_process_local_data((split, copies), (mine, whole))
assert a.sharding == split and b.sharding == copies
assert copy.deepcopy(x).sharding == split
assert mesh.is_multi_process and mesh.local_mesh.size == own
raises(RuntimeError, "was called before", dt.distributed.initialize)
dt.distributed.shutdown()
assert not dt.distributed.is_initialized()
dt.distributed.shutdown()
