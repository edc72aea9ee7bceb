"""Transfer of values: from the host to devices, and of arrays between devices and shardings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_base.errors import integer_too_large
from dovetail_base.placements import surroundings
from dovetail_core import EVAL, ShapedArray, float0, here, registry, run_under, typeof
from dovetail_xla import arrays
from dovetail_xla.arrays import ArrayCopySemantics, ArrayImpl, XlaRuntimeError
from dovetail_xla.client import Device
from dovetail_xla.shardings import NamedSharding, SingleDeviceSharding, single_device_sharding

from . import formats as formats  # gives arrays their attribute `format`
from .array import check_usable, release_donated, type_of_array, value_of
from .array.layouts import in_default_layout
from .selection import target_device


def sharding_for(device: Any) -> Any:
    """The sharding of a device; other values (shardings, None) as they are, unchecked.

    A sharding of an abstract mesh becomes one on the devices of the mesh that is set.

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
    """``x`` on one device, in the default layout; ``x`` itself if it is there.

    Raises:
        RuntimeError: the array was deleted or donated.
    """
    check_usable((x,))
    sharding = x._sharding
    x = in_default_layout(x)
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
        sharding.shard_shape(x.aval.shape)  # raises if a dimension is not divisible
    if sharding is None:
        if may_alias is not False:
            return x
        sharding, committed = x._sharding, x._committed
    devices, own = sharding._internal_device_list, x._sharding._internal_device_list
    if may_alias is False or sharding != x._sharding:
        x = in_default_layout(x)  # the runtime's copies of other arrays have a wrong layout
    if not own.is_fully_addressable and not _is_equivalent(x, sharding):
        return _resharded(x, sharding)
    if next(iter(devices)).client is not next(iter(own)).client or len(devices) != len(own):
        return put_on(value_of(x), type_of_array(x), sharding, committed)
    if len(devices) > 1 and not _is_equivalent(x, sharding):
        if not _moves_by_program(x, sharding):
            return put_on(value_of(x), type_of_array(x), sharding, committed)
        return run_under(EVAL, registry().provider("resharder"), x, sharding)
    shared = may_alias is not False
    semantics = ArrayCopySemantics.REUSE_INPUT if shared else ArrayCopySemantics.ALWAYS_COPY
    result = arrays.copy_arrays([x], [devices], [sharding], semantics)[0]
    if donate and not (shared and sharding == x._sharding):
        release_donated(x)
    if (
        result._committed == committed
        and arrays.typed_with_sharding(result.aval, sharding) is result.aval
    ):
        return result
    return arrays.assemble(result.aval, sharding, arrays.shards_of(result), committed)


def _is_equivalent(x: ArrayImpl, sharding: Any) -> bool:
    """True if each part of an array is on the device where ``sharding`` has it."""
    return x._sharding.is_equivalent_to(sharding, len(x.aval.shape))


def _moves_by_program(x: ArrayImpl, sharding: Any) -> bool:
    """True if a program can move the parts without the host: between shardings of meshes in their
    devices' default memory."""
    shardings = (x._sharding, sharding)
    if any(s.__class__ is not NamedSharding for s in shardings):
        return False
    kinds = {s.memory_kind for s in shardings} - {None}
    default = next(iter(sharding._internal_device_list)).default_memory().kind
    return kinds <= {default} and registry().provider("resharder", None) is not None


def _resharded(x: ArrayImpl, sharding: Any) -> ArrayImpl:
    """An array of several processes with another sharding; a program moves its parts."""
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


_PYTHON = (bool, int, float, complex)


def asarray_on(x: Any, aval: ShapedArray, device: Any, committed: bool = False) -> Any:
    """``x`` as an array of type ``aval`` on ``device``.

    NumPy values and Python scalars are converted to the type's dtype and copied, so that later
    writes to their memory have no effect. An array that is on the device already is returned
    itself. The sharding of the type is ignored.

    Raises:
        TypeError: no device can hold the dtype.
        OverflowError: a Python integer is out of the type's range.
        ValueError: the shape is not the type's, or it is a masked array.
        RuntimeError: ``x`` is an array that was deleted or donated.
    """
    if x.__class__ is ArrayImpl:
        return move_to_device(x, device)
    value = host_value(x, aval)
    if aval.dtype == float0:  # has no content; compiled programs take booleans instead
        return arrays.put(value, ShapedArray(aval.shape, np.bool_), device, committed)
    try:
        return arrays.put(value, aval.without_sharding(), device, committed)
    except XlaRuntimeError as e:
        if "Unknown NumPy dtype" not in str(e):
            raise
        raise TypeError(
            f"a value of dtype {aval.dtype} is not a valid array value: devices hold no such "
            "elements. Convert it first, for example with x.astype(numpy.float32)."
        ) from None


def asarray_in(x: Any, aval: ShapedArray, sharding: Any) -> Any:
    """``x`` as an array of type ``aval`` with a sharding of several devices.

    Raises:
        TypeError, OverflowError, ValueError, RuntimeError: as :func:`asarray_on`.
    """
    if x.__class__ is ArrayImpl:
        same = x._sharding is sharding or x._sharding.is_equivalent_to(sharding, len(aval.shape))
        return in_default_layout(x) if same and not x.is_deleted() else move(x, sharding)
    if aval.dtype == float0:
        aval = ShapedArray(aval.shape, np.bool_)
        x = np.zeros(aval.shape, np.bool_)
    return put_on(host_value(x, aval), aval, sharding)


def rows_on_host(x: Any) -> Iterator[Any] | None:
    """The slices of ``x`` along its first axis, if its memory is the host's; else None.

    Each is a copy, and no program is compiled.
    """
    sharding = x._sharding
    device = next(iter(sharding.device_set))
    if device.platform != "cpu" or sharding is not single_device_sharding(device):
        return None
    aval = ShapedArray(x.aval.shape[1:], x.aval.dtype, x.aval.weak_type)
    return _rows(value_of(x), aval, device, x._committed)


def _rows(value: Any, aval: ShapedArray, device: Any, committed: bool) -> Iterator[Any]:
    for row in value:
        yield arrays.put(row, aval, device, committed)


def put_host(x: Any, aval: ShapedArray) -> Any:
    """:func:`asarray_on` the default device, uncommitted, or on those of the mesh in scope."""
    sharding = surroundings()
    if sharding is not None and x.__class__ is not ArrayImpl:
        return asarray_in(x, aval, sharding)
    return asarray_on(x, aval, target_device())


def put_value(x: Any, sharding: Any, shared: bool = False) -> Any:
    """A NumPy value or Python scalar on a sharding's devices, or uncommitted on the default one.

    ``shared``: the array may be the memory of ``x``, if that is aligned.
    """
    aval = typeof(x)
    if not isinstance(aval, ShapedArray):
        raise TypeError(f"device_put takes arrays, got {aval.str_short()}{here()}")
    if aval.dtype == float0:
        return x
    if shared and x.__class__ is np.ndarray:
        committed = sharding is not None
        target = sharding if committed else single_device_sharding(target_device())
        return put_on(host_value(x, aval), aval, target, committed, shared=True)
    if sharding is None:  # also if a mesh is set
        return asarray_on(x, aval, target_device())
    devices = list(sharding._internal_device_list)
    if len(devices) == 1 and sharding is single_device_sharding(devices[0]):
        return asarray_on(x, aval, devices[0], committed=True)
    return put_on(host_value(x, aval), aval, sharding)


def host_value(x: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
    """``x`` as a NumPy value of exactly the type ``aval``; shares memory where it can."""
    if aval.dtype == float0:
        return np.zeros(aval.shape, np.bool_)
    if x.__class__ in _PYTHON:
        return _python_value(x, aval)
    if x.__class__ is ArrayImpl:
        x = value_of(x)
    elif x.__class__ is not np.ndarray:
        typeof(x)  # refuses masked arrays
        x = np.asarray(x)
    if x.shape != aval.shape:
        raise ValueError(
            f"a value of shape {x.shape} is given where the type is {aval.str_short()}."
        )
    # Narrowing is what `enable_x64` being off means; values out of range wrap or become infinite.
    return x if x.dtype == aval.dtype else _narrowed(x, aval)


def _narrowed(x: np.ndarray[Any, Any], aval: ShapedArray) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return x.astype(aval.dtype)


def _python_value(x: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
    try:
        value = np.asarray(x, aval.dtype)
    except OverflowError:
        raise integer_too_large(x, aval.dtype) from None
    if aval.shape != ():
        raise ValueError(f"a scalar is given where the type is {aval.str_short()}.")
    return value
