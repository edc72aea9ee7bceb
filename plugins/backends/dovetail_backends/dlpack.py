"""Exchanging arrays with other libraries without copies: DLPack, in and out."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from dovetail_core import ShapedArray, canonical_dtype
from dovetail_core.xla import arrays
from dovetail_core.xla.arrays import ArrayImpl, XlaRuntimeError, install

from .array import check_usable, type_of_array, value_of
from .array.copying import copied
from .array.state import spelled
from .moving import move_to_device, sharding_for
from .selection import backend


class DLDeviceType(IntEnum):
    """The kinds of devices that DLPack knows and that have a backend."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLROCM = 10


_PLATFORMS = {
    DLDeviceType.kDLCPU: "cpu",
    DLDeviceType.kDLCUDA: "cuda",
    DLDeviceType.kDLROCM: "rocm",
}
_KINDS = {name: kind for kind, name in _PLATFORMS.items()}
_SUPPORTED = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128".split()
)


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays of a dtype can be exchanged."""
    return np.dtype(dtype).name in _SUPPORTED


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Any:
    """An array from another library's array.

    Args:
        external_array: an object with ``__dlpack__`` and ``__dlpack_device__``. Unless its memory
            is copied, it must not be written to afterwards.
        device: where to put it; by default it stays on its device.
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
    platform = _PLATFORMS.get(int(kind))  # type: ignore[call-overload]
    if platform is None:
        known = ", ".join(f"{k.name} ({int(k)})" for k in _PLATFORMS)
        raise RuntimeError(f"from_dlpack: no backend has DLPack's device type {kind}, only {known}")
    devices = {d.local_hardware_id: d for d in backend(platform).local_devices()}
    place = devices.get(index) or next(iter(devices.values()))
    shared = _shared(external, place)
    if shared is None or not _as_ours(shared):
        if copy is False:
            raise ValueError(
                "from_dlpack with copy=False: the array's memory cannot be shared, because its "
                "elements are not in row-major order without gaps, are aligned to less than 64 "
                "bytes, are read-only, or are of a 64-bit type while enable_x64 is off. Drop "
                "copy=False."
            )
        return _through_host(external if shared is None else shared, place)
    # Once it is copied, the other library may write to its memory again.
    return copied(shared).block_until_ready() if copy else shared


def _shared(external: Any, device: Any) -> ArrayImpl | None:
    """The array that shares the memory, or None where that is not possible."""
    try:
        if device.platform == "cpu":
            return arrays.from_dlpack(external.__dlpack__(), device, copy=False)
        # A stream of 1 is the default stream, with which the runtime's own are synchronised.
        return arrays.from_dlpack(external.__dlpack__(stream=1), device, 1)
    except (XlaRuntimeError, BufferError):
        return None


def _as_ours(array: ArrayImpl) -> bool:
    aval = type_of_array(array)
    layout = str(array._pjrt_layout)  # type: ignore[attr-defined]
    row_major = "{" + ",".join(map(str, reversed(range(aval.ndim)))) + "}"
    return canonical_dtype(aval.dtype) == aval.dtype and layout == row_major


def _through_host(x: Any, device: Any) -> ArrayImpl:
    value = value_of(x) if x.__class__ is ArrayImpl else np.from_dlpack(x)
    dtype = canonical_dtype(value.dtype)
    aval = ShapedArray(value.shape, dtype)
    return arrays.put(value.astype(dtype, copy=False), aval, device, committed=True)


def _export(
    self: ArrayImpl,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule that shares the array's memory; its consumer must not write to it."""
    check_usable((self,))
    own = _device_of(self)
    if not is_supported_dtype(self.aval.dtype):
        raise BufferError(
            f"an array of type {spelled(self)} cannot be exchanged by DLPack: convert it "
            "to a type that other libraries have (x.astype(...))."
        )
    if dl_device is not None and tuple(dl_device) != own:
        raise BufferError(
            f"the array is on the DLPack device {tuple(map(int, own))}, not on {tuple(dl_device)}: "
            "move it there first (dovetail.device_put)."
        )
    if stream is not None and own[0] == DLDeviceType.kDLCPU:
        raise ValueError("an array in host memory has no streams: __dlpack__(stream=None).")
    return arrays.to_dlpack(copied(self) if copy else self, stream)


def _device_of(self: ArrayImpl) -> tuple[DLDeviceType, int]:
    """The array's device in DLPack's terms: its kind and its number."""
    check_usable((self,))
    devices = list(self._sharding._internal_device_list)
    kind = _KINDS.get(devices[0].client.platform)
    if len(devices) > 1 or kind is None:
        raise BufferError(
            f"an array on {', '.join(map(str, devices))} cannot be exchanged by DLPack, which "
            "knows arrays of one CPU or GPU: exchange its parts (x.addressable_shards), or a NumPy "
            "copy."
        )
    return kind, devices[0].local_hardware_id or 0


install("__dlpack__", _export)
install("__dlpack_device__", _device_of)
__all__ = ["from_dlpack", "is_supported_dtype"]
