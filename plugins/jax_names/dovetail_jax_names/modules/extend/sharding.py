"""``jax.extend.sharding``: the compiler's shardings, from and to serialized protocol buffers."""

from __future__ import annotations

from typing import Any

from dovetail_xla.shardings import (
    GSPMDSharding as GSPMDSharding,
    HloSharding as _HloSharding,
    OpSharding as _OpSharding,
)

from ...lookup import attributes as _attributes


def get_op_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """The compiler's description of a sharding, of a serialized one."""
    result = _OpSharding()
    result.ParseFromString(sharding)
    return result


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """The compiler's sharding, of a serialized description."""
    return _HloSharding.from_proto(get_op_sharding_from_serialized_proto(sharding))


def get_serialized_proto_from_hlo_sharding(sharding: Any) -> bytes:
    """The description of the compiler's sharding, serialized."""
    return sharding.to_proto().SerializeToString()


__getattr__, __dir__ = _attributes("jax.extend.sharding")
