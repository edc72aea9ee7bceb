"""Arrays on several devices with another sharding: the provider ``resharder``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import put_on, value_of
from dovetail_base.caches import cached
from dovetail_core import typeof
from dovetail_xla.arrays import ArrayCopySemantics, assemble, copy_arrays, shards_of
from dovetail_xla.shardings import GSPMDSharding, HloSharding

from .api import jit


def resharded(x: Any, sharding: Any) -> Any:
    """``x`` by another sharding on the same devices, or of one process on as many; all processes
    must ask for it.

    One program moves the parts where the axes of one of the two meshes can say both shardings, or
    devices are in another order. To others of one process the parts are copied when they are what
    they are to be. Elsewhere every device gets the whole for a moment.
    """
    own, ndim = x._sharding, x.ndim
    before, after = getattr(own, "_grid", None), getattr(sharding, "_grid", None)
    if before is None or after is None or before is after:
        return _mover(sharding)(x)
    if list(own._internal_device_list) == list(sharding._internal_device_list):
        if after.spelled(own, ndim) is not None:
            return _mover(sharding)(_spelled_as(x, after.sharding_of(_parts(own, ndim), ndim)))
        if before.spelled(sharding, ndim) is not None:
            result = _mover(before.sharding_of(_parts(sharding, ndim), ndim))(x)
            return _spelled_as(result, sharding)
    elif set(own._internal_device_list) == set(sharding._internal_device_list):
        there = _mover(_in_order(sharding, own._internal_device_list, ndim))(x)
        shards = {s._sharding._device: s for s in shards_of(there)}
        order = [d for d in sharding._internal_device_list if d in shards]
        return assemble(x.aval, sharding, [shards[d] for d in order])
    elif own._internal_device_list.is_fully_addressable:
        parts = resharded(x, _on(sharding, own._internal_device_list))
        devices = sharding._internal_device_list
        semantics = ArrayCopySemantics.REUSE_INPUT
        return _spelled_as(copy_arrays([parts], [devices], [sharding], semantics)[0], sharding)
    copies = _mover(before.sharding_of(HloSharding.replicate(), ndim))(x)
    return put_on(value_of(copies), typeof(x), sharding)


def _in_order(sharding: Any, devices: Any, ndim: int) -> Any:
    """A sharding by which devices have the same parts, and are numbered in another order."""
    parts = _parts(sharding, ndim)
    if not parts.is_replicated():
        numbers = {d: i for i, d in enumerate(devices)}
        order = [numbers[d] for d in sharding._internal_device_list]
        proto = parts.to_proto()
        proto.tile_assignment_devices = [order[i] for i in parts.tile_assignment_devices()]
        proto.iota_reshape_dims, proto.iota_transpose_perm = [], []
        parts = HloSharding.from_proto(proto)
    return GSPMDSharding(devices, parts)


def _on(sharding: Any, devices: Any) -> Any:
    """The same sharding on other devices, as many."""
    mesh = sharding.mesh
    grid = np.array(list(devices), object).reshape(mesh.devices.shape)
    return sharding.update(mesh=type(mesh)(grid, mesh.axis_names, axis_types=mesh.axis_types))


def _parts(sharding: Any, ndim: int) -> Any:
    return sharding._to_xla_hlo_sharding(ndim)


def _spelled_as(x: Any, sharding: Any) -> Any:
    """``x`` with an equivalent sharding of another spelling."""
    return assemble(x.aval, sharding, shards_of(x))


@cached(bound=256)
def _mover(sharding: Any) -> Any:
    def reshard(x: Any) -> Any:
        return x

    return jit(reshard, out_shardings=sharding)
