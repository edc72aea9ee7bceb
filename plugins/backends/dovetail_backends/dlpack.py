"""Arrays of other libraries, imported by DLPack without a copy if possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import ShapedArray, canonical_dtype
from dovetail_xla import arrays
from dovetail_xla.arrays import ArrayImpl, XlaRuntimeError

from .array import check_usable, type_of_array, value_of
from .array.copying import PLATFORMS, copied, is_supported_dtype as is_supported_dtype
from .selection import backend
from .transfer import move_to_device, sharding_for


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Any:
    """An array from another library's array.

    Args:
        external_array: an object with ``__dlpack__`` and ``__dlpack_device__``. Unless its memory
            is copied, it must not be written to afterwards.
        device: the device to put it on; by default it stays on its own.
        copy: True makes a copy, False raises where one is needed, None copies where needed: for
            strides that are not row-major, for memory aligned to less than 64 bytes, and for
            64-bit types where ``enable_x64`` is off.

    Raises:
        TypeError: it is not such an object. ValueError: ``copy=False`` and a copy is needed.
        RuntimeError: no backend here has its device.
    """
    target = _one_device(device)
    if external_array.__class__ is ArrayImpl:
        check_usable((external_array,))
        array = copied(external_array) if copy else external_array
    else:
        array = _imported(external_array, copy)
    here = next(iter(array._sharding._internal_device_list))
    if target is not None and target != here:
        if copy is False:
            raise ValueError(
                f"from_dlpack with copy=False: the array is on {here}, so to put it on "
                f"{target} it must be copied. Drop copy=False."
            )
        array = move_to_device(array, target)
    return array


def _one_device(device: Any) -> Any:
    sharding = sharding_for(device)
    if sharding is None:
        return None
    devices = getattr(sharding, "_internal_device_list", ())
    if len(devices) != 1:
        raise ValueError(f"from_dlpack needs a single device, or None, got {device!r}")
    return next(iter(devices))


def _imported(external: Any, copy: bool | None) -> ArrayImpl:
    if not (hasattr(external, "__dlpack__") and hasattr(external, "__dlpack_device__")):
        raise TypeError(
            f"from_dlpack takes an array with the methods __dlpack__ and __dlpack_device__, got "
            f"{type(external).__name__}. Pass the other library's array itself, not a capsule."
        )
    kind, index = external.__dlpack_device__()
    platform = PLATFORMS.get(int(kind))  # type: ignore[call-overload]
    if platform is None:
        known = ", ".join(f"{k.name} ({int(k)})" for k in PLATFORMS)
        raise RuntimeError(f"from_dlpack: no backend has DLPack's device type {kind}, only {known}")
    devices = {d.local_hardware_id: d for d in backend(platform).local_devices()}
    device = devices.get(index) or next(iter(devices.values()))
    shared = _shared(external, device)
    if shared is None or not _is_shareable(shared):
        if copy is False:
            raise ValueError(
                "from_dlpack with copy=False: the array's memory cannot be shared, because its "
                "elements are not in row-major order without gaps, are aligned to less than 64 "
                "bytes, are read-only, or are of a 64-bit type while enable_x64 is off. Drop "
                "copy=False."
            )
        return _through_host(external if shared is None else shared, device)
    # Once it is copied, the other library may write to its memory again.
    return copied(shared).block_until_ready() if copy else shared


def _shared(external: Any, device: Any) -> ArrayImpl | None:
    """The array that shares the memory, or None if that is not possible."""
    try:
        if device.platform == "cpu":
            return arrays.from_dlpack(external.__dlpack__(), device, copy=False)
        # A stream of 1 is the default stream, with which the runtime's own are synchronised.
        return arrays.from_dlpack(external.__dlpack__(stream=1), device, 1)
    except (XlaRuntimeError, BufferError):
        return None


def _is_shareable(array: ArrayImpl) -> bool:
    aval = type_of_array(array)
    layout = str(array._pjrt_layout)  # type: ignore[attr-defined]
    row_major = "{" + ",".join(map(str, reversed(range(aval.ndim)))) + "}"
    return canonical_dtype(aval.dtype) == aval.dtype and layout == row_major


def _through_host(x: Any, device: Any) -> ArrayImpl:
    value = _host_value(x, device)
    dtype = canonical_dtype(value.dtype)
    aval = ShapedArray(value.shape, dtype)
    return arrays.put(value.astype(dtype, copy=False), aval, device, committed=True)


def _host_value(x: Any, device: Any) -> Any:
    if x.__class__ is ArrayImpl:
        return value_of(x)
    if isinstance(x, np.ndarray):
        return x
    if device.platform != "cpu":
        raise ValueError(
            f"from_dlpack: the array on {device} is not in row-major order without gaps: make it "
            "contiguous in the library that it comes from."
        )
    return np.from_dlpack(x)


__all__ = ["from_dlpack", "is_supported_dtype"]
