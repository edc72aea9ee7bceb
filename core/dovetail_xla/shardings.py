"""Shardings: jaxlib's classes, and the part of an array that each device has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

from .bindings import (
    Device,
    DeviceList as DeviceList,
    GSPMDSharding as GSPMDSharding,
    HloSharding as HloSharding,
    NamedSharding as NamedSharding,
    OpSharding as OpSharding,
    Sharding as Sharding,
    SingleDeviceSharding as SingleDeviceSharding,
)
from .startup import check_specs as check_specs

# Use these exact classes for arrays that go through compiled calls: C++ hashes and compares only
# them natively, and sends every call with a plain `Sharding` subclass to the Python fallback.


def _single_device_hlo_sharding(self: SingleDeviceSharding, ndim: int) -> HloSharding:
    return HloSharding.replicate()


def _gspmd_hlo_sharding(self: GSPMDSharding, ndim: int) -> HloSharding:
    return self._hlo_sharding


def _fits_all_shapes(self: SingleDeviceSharding, aval_shape: Any) -> None:
    """Accept every shape, since nothing is divided."""


def install(sharding_class: type, name: str, attribute: Any) -> None:
    """Sets a method or property on one of the C++ sharding classes, for the whole process.

    The owner of meshes must give `NamedSharding` its `_to_xla_hlo_sharding(self, ndim)`.
    """
    setattr(sharding_class, name, attribute)


def _single_device_key(self: SingleDeviceSharding) -> tuple[Any, ...]:
    return (self._device, self._memory_kind)


def _gspmd_key(self: GSPMDSharding) -> tuple[Any, ...]:
    return (self._internal_device_list, self._hlo_sharding, self._memory_kind)


def _compare_by(cls: type, key: Callable[[Any], tuple[Any, ...]]) -> None:
    # C++ compares these classes by value, but has not told Python how.
    def equal(self: Any, other: object) -> bool:
        return self is other or (type(other) is cls and key(self) == key(other))

    def hashed(self: Any) -> int:
        return hash(key(self))

    install(cls, "__eq__", equal)
    install(cls, "__hash__", hashed)


_compare_by(SingleDeviceSharding, _single_device_key)
_compare_by(GSPMDSharding, _gspmd_key)

# C++ asks a sharding for these two attributes, and its own classes lack some of them.
install(SingleDeviceSharding, "_to_xla_hlo_sharding", _single_device_hlo_sharding)
install(GSPMDSharding, "_to_xla_hlo_sharding", _gspmd_hlo_sharding)
install(SingleDeviceSharding, "check_compatible_aval", _fits_all_shapes)
for _class in (SingleDeviceSharding, NamedSharding, GSPMDSharding):
    if not hasattr(_class, "memory_kind"):
        install(_class, "memory_kind", property(lambda self: self._memory_kind))


def single_device_sharding(device: Device, memory_kind: str | None = None) -> SingleDeviceSharding:
    """The one sharding object of a device; ValueError for a memory kind that it lacks."""
    return _interned(device, memory_kind)


@cache
def _interned(device: Device, memory_kind: str | None) -> SingleDeviceSharding:
    return SingleDeviceSharding(device, memory_kind)


def sharding_of_tuple(shape: Any, parts: list[HloSharding]) -> HloSharding:
    """The sharding of a tuple of arrays, of an XLA shape."""
    make: Any = HloSharding
    return make.tuple_sharding(shape, parts)


class Cut(NamedTuple):
    """The parts of an array for the devices of a sharding, in their order.

    Attributes:
        indices: the part of each. is_copy: True if a device before it has the same part.
        is_replicated: True if each has the whole array.
        mine: the positions of the devices of this process. own: those devices.
    """

    indices: tuple[tuple[slice, ...], ...]
    is_copy: tuple[bool, ...]
    is_replicated: bool
    mine: tuple[int, ...]
    own: tuple[Device, ...]


@lru_cache(4096)
def cut_of(sharding: Any, shape: tuple[int, ...]) -> Cut:
    """The parts of arrays of a shape; one object for equal shardings and shapes.

    Raises:
        ValueError: as :func:`shard_indices`.
    """
    hlo_sharding = sharding._to_xla_hlo_sharding(len(shape))
    devices = sharding._internal_device_list
    result = shard_indices(hlo_sharding, shape, len(devices))
    is_copy = tuple([result.index(index) < i for i, index in enumerate(result)])
    own = tuple(devices.addressable_device_list)
    here = set(own)
    mine = tuple([i for i, d in enumerate(devices) if d in here])
    return Cut(tuple(result), is_copy, hlo_sharding.is_replicated(), mine, own)


def shard_indices(
    hlo_sharding: HloSharding, shape: tuple[int, ...], num_devices: int
) -> list[tuple[slice, ...]]:
    """The slice of an array of `shape` that the i-th device of the sharding's device list holds.

    Raises ValueError when a tiled dimension is not divisible by its number of tiles.
    """
    if hlo_sharding.is_replicated():
        return [tuple(slice(None) for _ in shape)] * num_devices
    if not hlo_sharding.is_tiled():
        raise ValueError(f"the sharding {hlo_sharding} does not say which part each device holds")
    tiles = tuple(hlo_sharding.tile_assignment_dimensions())
    ordinals = hlo_sharding.tile_assignment_devices()
    steps = [_step(shape, tiles, axis) for axis in range(len(shape))]
    indices: list[Any] = [None] * num_devices
    for coordinates, ordinal in zip(product(*map(range, tiles)), ordinals, strict=True):
        # Tile dimensions past the rank are subgroups: devices that hold copies of one part.
        starts = zip(coordinates, steps, strict=False)
        indices[ordinal] = tuple(
            slice(at * step, (at + 1) * step) if n > 1 else slice(None)
            for (at, step), n in zip(starts, tiles, strict=False)
        )
    return indices


def _step(shape: tuple[int, ...], tiles: tuple[int, ...], axis: int) -> int:
    if shape[axis] % tiles[axis]:
        raise ValueError(
            f"dimension {axis} of shape {shape} has size {shape[axis]}, "
            f"which {tiles[axis]} shards do not divide"
        )
    return shape[axis] // tiles[axis]
