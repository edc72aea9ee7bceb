"""Meshes that processes divide in other ways."""

import numpy as np
from common import raises, start

import dovetail as dt
from dovetail import NamedSharding, P
from dovetail.experimental import multihost_utils as mu

start()
me = dt.process_index()
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
