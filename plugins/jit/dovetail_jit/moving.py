"""Arrays of several processes with another sharding: the provider ``resharder``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dovetail_backends import put_on, value_of
from dovetail_core import typeof
from dovetail_core.xla.arrays import assemble, shards_of
from dovetail_core.xla.shardings import HloSharding

from .api import jit


def resharded(x: Any, sharding: Any) -> Any:
    """``x`` by another sharding on the same devices; all processes must ask for it.

    One program moves the parts where the axes of one of the two meshes can say both shardings. Else
    every device gets the whole for a moment: of devices in another order there is no program.
    """
    own, ndim = x._sharding, x.ndim
    before, after = getattr(own, "_grid", None), getattr(sharding, "_grid", None)
    if before is None or after is None or before is after:
        return _mover(sharding)(x)
    if list(own._internal_device_list) == list(sharding._internal_device_list):
        if after.spelled(own, ndim) is not None:
            return _mover(sharding)(_told(x, after.sharding_of(_parts(own, ndim), ndim)))
        if before.spelled(sharding, ndim) is not None:
            found = _mover(before.sharding_of(_parts(sharding, ndim), ndim))(x)
            return _told(found, sharding)
    copies = _mover(before.sharding_of(HloSharding.replicate(), ndim))(x)
    return put_on(value_of(copies), typeof(x), sharding)


def _parts(sharding: Any, ndim: int) -> Any:
    return sharding._to_xla_hlo_sharding(ndim)


def _told(x: Any, sharding: Any) -> Any:
    """``x``, whose parts are where another spelling of its sharding says."""
    return assemble(x.aval, sharding, shards_of(x))


@lru_cache(256)
def _mover(sharding: Any) -> Any:
    def reshard(x: Any) -> Any:
        return x

    return jit(reshard, out_shardings=sharding)
