"""Copies of arrays in Python and for other libraries: ``copy``, ``deepcopy``, pickles, DLPack."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from dovetail_base.foreign import reword_errors
from dovetail_core import ShapedArray, registry
from dovetail_xla import arrays, fork
from dovetail_xla.arrays import ArrayCopySemantics, ArrayImpl, install

from .layouts import in_default_layout
from .state import check_usable, spelled
from .values import value_of


def copied(x: ArrayImpl) -> ArrayImpl:
    """The same value, on the same devices, in memory of its own.

    Raises:
        RuntimeError: the array was deleted or donated.
    """
    check_usable((x,))
    result = in_default_layout(x)
    if result is not x:  # a copy already; the runtime's own copy would have a wrong layout
        return result
    devices = x._sharding._internal_device_list
    if not devices.is_fully_addressable:
        parts = [copied(part) for part in arrays.shards_of(x)]
        return arrays.assemble(x.aval, x._sharding, parts, x._committed)
    always = ArrayCopySemantics.ALWAYS_COPY
    return arrays.copy_arrays([x], [devices], [x._sharding], always)[0]


def _deepcopy(self: ArrayImpl, memo: Any) -> ArrayImpl:
    return copied(self)


def _reduce(self: ArrayImpl) -> tuple[Any, ...]:
    other = registry().provider("pickles", None)
    if other is not None and (result := other(self)) is not None:
        return result
    return rebuild, (value_of(self), self.aval.weak_type)


def rebuild(value: Any, weak_type: bool) -> Any:
    """An array from a pickled value: of exactly its dtype, on the default device.

    In a forked process, which cannot put values on devices, it is the value itself: an error here
    would end the workers of a pool silently while their parent waits for them.
    """
    from ..selection import target_device

    if fork.forked():
        return value
    return arrays.put(value, ShapedArray(value.shape, value.dtype, weak_type), target_device())


install("__copy__", copied)
install("__deepcopy__", _deepcopy)
install("__reduce__", _reduce)


class DLDeviceType(IntEnum):
    """The kinds of devices that DLPack knows and that have a backend."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLROCM = 10


PLATFORMS = {
    DLDeviceType.kDLCPU: "cpu",
    DLDeviceType.kDLCUDA: "cuda",
    DLDeviceType.kDLROCM: "rocm",
}
_KINDS = {name: kind for kind, name in PLATFORMS.items()}
_SUPPORTED = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128".split()
)


@reword_errors
def is_supported_dtype(dtype: Any) -> bool:
    """True if arrays of a dtype can be exchanged by DLPack."""
    return np.dtype(dtype).name in _SUPPORTED


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
