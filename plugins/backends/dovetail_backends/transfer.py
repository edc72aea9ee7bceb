"""Transfer of arrays between devices and shardings, within a platform and from one to another."""

from __future__ import annotations

from typing import Any

from dovetail_base.source import here
from dovetail_core import EVAL, registry, run_under
from dovetail_xla import arrays
from dovetail_xla.arrays import ArrayCopySemantics, ArrayImpl
from dovetail_xla.client import Device
from dovetail_xla.shardings import (
    NamedSharding,
    SingleDeviceSharding,
    single_device_sharding,
)

from .array import check_usable, give_away, type_of_array, value_of
from .array.layouts import in_usual_layout


def sharding_for(device: Any) -> Any:
    """The sharding of a device, or what else is given: a sharding, None, or what callers refuse.

    A sharding of an abstract mesh is meant on the devices of the mesh that is set.

    Raises:
        ValueError: the sharding has no devices.
    """
    if isinstance(device, Device):
        return single_device_sharding(device)
    if not getattr(device, "_is_concrete", True):
        on_devices = getattr(device, "_on_devices", None)
        if on_devices is not None and (result := on_devices()) is not None:
            return result
        raise ValueError(
            f"device_put{here()} to {device!r}, which has no devices: make the sharding with a "
            "Mesh, or set one (dovetail.set_mesh)."
        )
    return device


def move_to_device(x: ArrayImpl, device: Any) -> ArrayImpl:
    """``x`` on one device, in the usual layout: as it is if it is there.

    Raises:
        RuntimeError: the array was deleted or donated.
    """
    check_usable((x,))
    sharding = x._sharding
    x = in_usual_layout(x)
    if sharding.__class__ is SingleDeviceSharding and sharding._device == device:
        return x
    return move(x, single_device_sharding(device), committed=x._committed)


def move(
    x: ArrayImpl,
    sharding: Any,
    donate: bool = False,
    may_alias: bool | None = None,
    committed: bool = True,
) -> ArrayImpl:
    """``x`` with another sharding (None: its own), sharing memory if allowed.

    Raises:
        RuntimeError: the array was deleted or donated.
    """
    check_usable((x,))
    if sharding is not None and len(sharding._internal_device_list) > 1:
        sharding.shard_shape(x.aval.shape)  # raises where there is no such division
    if sharding is None:
        if may_alias is not False:
            return x
        sharding, committed = x._sharding, x._committed
    devices, own = sharding._internal_device_list, x._sharding._internal_device_list
    if may_alias is False or sharding != x._sharding:
        x = in_usual_layout(x)  # the runtime's copies of other arrays tell a wrong layout
    if not own.is_fully_addressable and not _stays(x, sharding):
        return _resharded(x, sharding)
    if next(iter(devices)).client is not next(iter(own)).client or len(devices) != len(own):
        return put_on(value_of(x), type_of_array(x), sharding, committed)
    if len(devices) > 1 and not _stays(x, sharding):
        if not _moves_by_program(x, sharding):
            return put_on(value_of(x), type_of_array(x), sharding, committed)
        return run_under(EVAL, registry().provider("resharder"), x, sharding)
    shared = may_alias is not False
    semantics = ArrayCopySemantics.REUSE_INPUT if shared else ArrayCopySemantics.ALWAYS_COPY
    result = arrays.copy_arrays([x], [devices], [sharding], semantics)[0]
    if donate and not (shared and sharding == x._sharding):
        give_away(x)
    if result._committed == committed and arrays.told(result.aval, sharding) is result.aval:
        return result
    return arrays.assemble(result.aval, sharding, arrays.shards_of(result), committed)


def _stays(x: ArrayImpl, sharding: Any) -> bool:
    """Whether each part of an array of several processes is where ``sharding`` wants it."""
    return x._sharding.is_equivalent_to(sharding, len(x.aval.shape))


def _moves_by_program(x: ArrayImpl, sharding: Any) -> bool:
    """Whether a program moves the parts, and the host sees none: on meshes of as many devices, in
    their usual memories."""
    places = (x._sharding, sharding)
    if any(s.__class__ is not NamedSharding for s in places):
        return False
    kinds = {s.memory_kind for s in places} - {None}
    usual = next(iter(sharding._internal_device_list)).default_memory().kind
    return kinds <= {usual} and registry().provider("resharder", None) is not None


def _resharded(x: ArrayImpl, sharding: Any) -> ArrayImpl:
    """An array of several processes with another sharding: a program moves its parts."""
    devices, now = set(sharding._internal_device_list), set(x._sharding._internal_device_list)
    if devices == now:
        return run_under(EVAL, registry().provider("resharder"), x, sharding)
    if devices <= set(sharding._internal_device_list.addressable_device_list):
        try:
            return put_on(value_of(x), type_of_array(x), sharding)
        except RuntimeError as e:
            raise ValueError(f"device_put to devices of this process: {e}") from None
    raise ValueError(
        f"device_put{here()} of an array on devices of several processes: {_ids(now)} are its "
        f"devices, and {_ids(devices)} those that it is to be on. Between processes arrays move "
        "among the same devices."
    )


def _ids(devices: set[Any]) -> list[int]:
    return sorted(d.id for d in devices)


def put_on(
    value: Any, aval: Any, sharding: Any, committed: bool = True, shared: bool = False
) -> ArrayImpl:
    """A host value of exactly type ``aval`` on the devices of a sharding: a copy, or ``shared``."""
    devices = sharding._internal_device_list
    if len(devices) > 1:
        sharding.shard_shape(aval.shape)
        return arrays.put_global(value, aval, sharding, shared)
    if not devices.is_fully_addressable:
        return arrays.put_global(value, aval, sharding, shared)
    kind, devices = sharding.memory_kind, list(devices)
    plain = kind is None or kind == devices[0].default_memory().kind
    result = arrays.put(value, aval, devices[0], committed, None if plain else kind, shared)
    if sharding.__class__ is not NamedSharding:
        return result
    sharding.shard_shape(aval.shape)  # type: ignore[attr-defined]
    return arrays.assemble(result.aval, sharding, [result], committed)
