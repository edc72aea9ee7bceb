"""The parts of an array on devices, and the attributes of shardings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dovetail_xla import shardings
from dovetail_xla.arrays import ArrayImpl, shards_of
from dovetail_xla.shardings import (
    GSPMDSharding,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    cut_of,
    single_device_sharding,
)

Index = tuple[slice, ...]


class Shard:
    """One part of an array.

    Attributes:
        device: the device that holds it.
        index: its position in the global array, one slice per axis.
        replica_id: its number among the parts with the same ``index``.
        data: the part as an array of one device, or None where another process holds it.
    """

    __slots__ = ("device", "index", "replica_id", "data")

    def __init__(
        self, device: Any, sharding: Any, global_shape: tuple[int, ...], data: Any = None
    ) -> None:
        indices = devices_indices_map(sharding, global_shape)
        self.device = device
        self.index: Index = indices[device]
        before = list(indices)[: list(indices).index(device)]
        self.replica_id = sum(indices[d] == self.index for d in before)
        self.data = data

    def __repr__(self) -> str:
        return (
            f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, "
            f"data={self.data})"
        )


def devices_indices_map(sharding: Any, global_shape: tuple[int, ...]) -> dict[Any, Index]:
    """The part of an array of ``global_shape`` that each device holds, as slices.

    Raises:
        ValueError: a dimension does not divide into its number of parts.
    """
    return dict(zip(sharding._internal_device_list, cut_of(sharding, tuple(global_shape)).indices))


def addressable_shards(x: ArrayImpl) -> list[Shard]:
    """The parts that this process holds."""
    shape, sharding = x.aval.shape, x._sharding
    parts = shards_of(x)
    if len(sharding._internal_device_list) == 1 and parts:
        return [Shard(next(iter(sharding._internal_device_list)), sharding, shape, x)]
    return [Shard(p._sharding._device, sharding, shape, p) for p in parts]


def global_shards(x: ArrayImpl) -> list[Shard]:
    """All parts, those of other processes without data."""
    held = {s.device: s for s in addressable_shards(x)}
    shape, sharding = x.aval.shape, x._sharding
    return [held.get(d) or Shard(d, sharding, shape) for d in sharding._internal_device_list]


def is_fully_replicated(sharding: Any) -> bool:
    """True if every device holds the whole array."""
    devices = sharding._internal_device_list
    return len(devices) == 1 or sharding._to_xla_hlo_sharding(1).is_replicated()


def _addressable_map(self: Any, global_shape: tuple[int, ...]) -> Mapping[Any, Index]:
    """:meth:`devices_indices_map` of this process's devices."""
    own = set(self._internal_device_list.addressable_device_list)
    return {d: i for d, i in devices_indices_map(self, global_shape).items() if d in own}


def _shard_shape(self: Any, global_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of each part of an array of ``global_shape``."""
    first = next(iter(devices_indices_map(self, global_shape).values()))
    return tuple(len(range(n)[i]) for n, i in zip(global_shape, first))


def _is_equivalent_to(self: Any, other: Any, ndim: int) -> bool:
    """True if both put every part of an array of ``ndim`` axes on the same device."""
    return (
        self._internal_device_list == other._internal_device_list
        and self.memory_kind == other.memory_kind
        and self._to_xla_hlo_sharding(ndim) == other._to_xla_hlo_sharding(ndim)
    )


def _show_single(self: Any) -> str:
    return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"


def _show_gspmd(self: Any) -> str:
    parts = f"devices={list(self._internal_device_list)!r}, {self._hlo_sharding}"
    return f"GSPMDSharding({parts}, memory_kind={self.memory_kind})"


def _with_memory_kind(self: Any, kind: str) -> Any:
    """The same device with another kind of memory."""
    return single_device_sharding(self._device, kind)


_ATTRIBUTES: dict[str, Any] = {
    "device_set": property(lambda self: set(self._internal_device_list)),
    "num_devices": property(lambda self: len(self._internal_device_list)),
    "is_fully_addressable": property(lambda self: self._internal_device_list.is_fully_addressable),
    "is_fully_replicated": property(is_fully_replicated),
    "addressable_devices": property(
        lambda self: set(self._internal_device_list.addressable_device_list)
    ),
    "has_addressable_devices": property(
        lambda self: len(self._internal_device_list.addressable_device_list) > 0
    ),
    "_is_concrete": property(lambda self: True),
    "_device_assignment": property(lambda self: tuple(self._internal_device_list)),
    "_addressable_device_assignment": property(
        lambda self: tuple(self._internal_device_list.addressable_device_list)
    ),
    "devices_indices_map": devices_indices_map,
    "addressable_devices_indices_map": _addressable_map,
    "shard_shape": _shard_shape,
    "is_equivalent_to": _is_equivalent_to,
}
for _class in (Sharding, SingleDeviceSharding, GSPMDSharding, NamedSharding):
    for _name, _attribute in _ATTRIBUTES.items():
        if _name not in vars(_class):
            shardings.install(_class, _name, _attribute)
shardings.install(SingleDeviceSharding, "__repr__", _show_single)
shardings.install(SingleDeviceSharding, "with_memory_kind", _with_memory_kind)
shardings.install(GSPMDSharding, "__repr__", _show_gspmd)
