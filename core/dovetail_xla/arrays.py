"""Device arrays: made from host values, copied between devices, read back, exchanged by DLPack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from . import bindings as _b
from .bindings import (
    Array as Array,
    ArrayCopySemantics as ArrayCopySemantics,
    ArrayImpl as ArrayImpl,
    Device,
    DeviceList,
    NamedSharding,
    Sharding,
    SingleDeviceSharding as SingleDeviceSharding,
)
from .callbacks import exception_behind
from .shardings import cut_of, shard_indices, single_device_sharding

XlaRuntimeError = _b.JaxRuntimeError
"""Raised by the runtime; asynchronous failures surface at `block_until_ready` and at reading."""

# The default semantics alias 64-byte aligned NumPy memory: later writes would show in the array.
_COPY_NOW = _b.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_SHARED = _b.HostBufferSemantics.ZERO_COPY


def put(
    value: Any,
    aval: Any,
    device: Device,
    committed: bool = False,
    memory_kind: str | None = None,
    shared: bool = False,
) -> ArrayImpl:
    """A one-device array of type `aval` (`shape`, `dtype`, `weak_type`) from a host value or array.

    Host memory is copied before the call returns, or `shared` where it is aligned as the device
    wants it: then it must not be written to. An array of the same device shares its buffer. Python
    scalars become `aval.dtype`. Raises TypeError when `value` has another shape or dtype.
    """
    if isinstance(value, (bool, int, float, complex)):
        if isinstance(value, float) and not -6e4 < value < 6e4:
            with np.errstate(over="ignore"):  # what is too large for the type is infinite
                value = np.asarray(value, aval.dtype)
        else:
            value = np.asarray(value, aval.dtype)
    elif value.dtype != aval.dtype or value.shape != aval.shape:
        # C++ takes the buffer and the given type, whether or not they agree.
        raise TypeError(
            f"a value of type {value.dtype}{list(value.shape)} cannot be put as "
            f"{aval.dtype}{list(aval.shape)}: convert or reshape it first"
        )
    sharding = single_device_sharding(device, memory_kind)
    # enable_x64=True: dtypes are decided by the caller, nothing is narrowed on the way.
    return _b.batched_device_put(
        aval, sharding, [value], [device], committed, False, _SHARED if shared else _COPY_NOW, True
    )


class HostInput:
    """An input, of the type `aval` on one device, that a compiled call is given as a NumPy array.

    A `calls.FastPath` has it as the input's layout: C++ calls `shard_arg_fallback` for inputs that
    have a layout of their own. Otherwise it shares aligned memory with the program, which may read
    it after the call has returned (up to jaxlib 0.11 it also copies what is larger than 100 kB
    after that).
    """

    __slots__ = ("aval", "devices", "dtype", "sharding")

    def __init__(self, aval: Any, sharding: Any) -> None:
        self.aval, self.sharding, self.dtype = aval, sharding, aval.dtype
        self.devices = list(sharding._internal_device_list)

    def copied(self, value: np.ndarray[Any, Any]) -> ArrayImpl | None:
        """A copy on the device, made before this returns; None for values that need conversion."""
        if value.__class__ is not np.ndarray or value.dtype != self.dtype or len(self.devices) > 1:
            return None
        return _b.batched_device_put(
            self.aval, self.sharding, [value], self.devices, False, False, _COPY_NOW, True
        )


def typed_with_sharding(aval: Any, sharding: Any) -> Any:
    """The type of an array of type `aval` with this sharding, if types of its mesh have one."""
    if sharding.__class__ is NamedSharding and getattr(sharding.mesh, "explicit_axes", ()):
        return aval.update(sharding=sharding)
    return aval if getattr(aval, "divided", None) is None else aval.update(sharding=None)


def put_sharded(
    shards: Sequence[Any],
    aval: Any,
    sharding: Sharding,
    devices: Sequence[Device],
    committed: bool = True,
    shared: bool = False,
) -> ArrayImpl:
    """An array of global type `aval` from one host value or array per addressable device.

    Host memory is copied, or `shared` as by `put`.
    An uncommitted array on several devices never takes the C++ call path.
    """
    if len(shards) != len(devices):
        raise ValueError(f"{len(shards)} shards for {len(devices)} devices: give one for each")
    dtype = aval.dtype
    for shard in shards:
        if shard.dtype is not dtype and shard.dtype != dtype:
            raise TypeError(f"a shard of dtype {shard.dtype} in an array of dtype {dtype}")
    aval, semantics = typed_with_sharding(aval, sharding), _SHARED if shared else _COPY_NOW
    return _b.batched_device_put(
        aval, sharding, list(shards), list(devices), committed, False, semantics, True
    )


def put_global(
    value: np.ndarray[Any, Any], aval: Any, sharding: Any, shared: bool = False
) -> ArrayImpl:
    """A committed array from the whole host value, divided by `sharding`: this process copies the
    parts of its own devices, other processes copy theirs."""
    cut = cut_of(sharding, aval.shape)
    if not cut.own:
        return assemble(aval, sharding, [])
    if cut.is_replicated:
        parts = [value] * len(cut.own)
    else:
        # C++ fails (bad_function_call) where some of the shards, but not all, are one memory.
        # Parts without elements are one memory, too.
        indices, is_copy, copied = cut.indices, cut.is_copy, not value.size
        parts = [
            value[indices[i]].copy() if is_copy[i] or copied else value[indices[i]]
            for i in cut.mine
        ]
    return put_sharded(parts, aval, sharding, cut.own, shared=shared)


def put_equal(part: ArrayImpl, aval: Any, sharding: Any) -> ArrayImpl:
    """A committed array of type `aval` whose parts are all equal to `part`, an array on one or more
    devices of this process: each device of the sharding gets a copy."""
    own = cut_of(sharding, aval.shape).own
    one: Any = shards_of(part)[0]
    if next(iter(one.sharding.device_set)).client is own[0].client:
        return put_sharded([one] * len(own), aval, sharding, own)
    return put_sharded([to_numpy(one).copy() for _ in own], aval, sharding, own)


def assemble(
    aval: Any, sharding: Sharding, arrays: Sequence[ArrayImpl], committed: bool = True
) -> ArrayImpl:
    """One array from its single-device parts, in the order of the sharding's devices; no copy."""
    return ArrayImpl(
        typed_with_sharding(aval, sharding), sharding, list(arrays), committed, _skip_checks=True
    )


def shards_of(array: ArrayImpl) -> list[ArrayImpl]:
    """The addressable single-device parts of an array, in device order."""
    return array._arrays


def copy_arrays(
    arrays: Sequence[ArrayImpl],
    devices: Sequence[DeviceList],
    shardings: Sequence[Sharding],
    semantics: ArrayCopySemantics = ArrayCopySemantics.REUSE_INPUT,
) -> list[ArrayImpl]:
    """Moves many arrays, each shard to the device at its position; the partition stays the same."""
    return _b.batched_copy_array_to_devices_with_sharding(
        list(arrays), list(devices), list(shardings), [semantics] * len(arrays)
    )


def to_numpy(array: ArrayImpl) -> np.ndarray[Any, Any]:
    """The value as a read-only NumPy array, without a copy where the memory can be shared.

    Waits for the value. Works for every dtype, and for arrays on several devices of this process.
    Raises XlaRuntimeError for a deleted array or a failed computation.
    """
    try:
        value = np.asarray(memoryview(array))
    except BufferError:
        return _to_numpy_slowly(array)
    # Of an array of which this process has one part it is that part.
    return value if value.shape == array.aval.shape else _to_numpy_slowly(array)


def _to_numpy_slowly(array: ArrayImpl) -> np.ndarray[Any, Any]:
    # The buffer protocol refuses extended dtypes, other platforms, several shards, deleted arrays.
    if array.is_deleted():
        raise RuntimeError("the array was deleted or donated, so its value cannot be read")
    parts = array._arrays
    sharding = array._sharding
    devices = sharding._internal_device_list
    if len(devices) == 1 and parts:
        # On a sharded array this call would return the first shard, without an error.
        return array._single_device_array_to_np_array_did_copy()[0]
    hlo_sharding = sharding._to_xla_hlo_sharding(len(array.aval.shape))
    if hlo_sharding.is_replicated() and parts:
        return to_numpy(parts[0])
    if len(parts) != len(devices):
        raise RuntimeError(
            f"the array is divided among {len(devices)} devices, of which this process has "
            f"{len(parts)}, so that its value cannot be read here. Gather it in all processes "
            "(experimental.multihost_utils.process_allgather(x, tiled=True)), make copies of it "
            "on all devices (device_put(x, NamedSharding(mesh, P()))), or read the parts that "
            "are here (x.addressable_shards)"
        )
    out = np.empty(array.aval.shape, array.aval.dtype)
    for part, index in zip(parts, shard_indices(hlo_sharding, out.shape, len(devices))):
        out[index] = to_numpy(part)
    out.flags.writeable = False
    return out


def copy_to_host_async(array: ArrayImpl) -> None:
    """Starts the transfer to host memory that a later `to_numpy` will need."""
    for part in array._arrays:
        part._copy_single_device_array_to_host_async()


def to_dlpack(array: ArrayImpl, stream: int | None = None) -> Any:
    """A DLPack capsule that shares the array's memory; its consumer must not write to it."""
    return _b.buffer_to_dlpack_managed_tensor(array, stream)


def from_dlpack(
    capsule: Any, device: Device, stream: int | None = None, copy: bool | None = None
) -> ArrayImpl:
    """An array from a DLPack capsule; shares 64-byte aligned memory unless `copy` is True.

    With `copy=False`, memory that cannot be shared is an error (XlaRuntimeError).
    """
    array = _b.dlpack_managed_tensor_to_buffer(capsule, device, stream, copy)
    if not copy:
        return array
    # C++ shares aligned memory even when asked for a copy.
    sharding = array._sharding
    devices = sharding._internal_device_list
    (copied,) = copy_arrays([array], [devices], [sharding], ArrayCopySemantics.ALWAYS_COPY)
    return copied.block_until_ready()


def block_until_ready(arrays: Iterable[ArrayImpl]) -> None:
    """Waits for all of them in one call; raises XlaRuntimeError if a computation failed, or what
    a callback raised."""
    try:
        return _b.batched_block_until_ready(list(arrays))
    except XlaRuntimeError as error:
        failure = [exception_behind(error)]
    raise failure.pop()


def install(name: str, attribute: Any) -> None:
    """Sets a method, property or operator on the array class, for the whole process."""
    setattr(ArrayImpl, name, attribute)


def install_class_attributes(
    find: Callable[[type, str], Any], names: Callable[[type], Iterable[str]]
) -> None:
    """Sets the functions that find attributes which the classes `Array` and `ArrayImpl` lack, and
    that add to the result of `dir` of them."""
    meta = type(Array)
    meta.__getattr__ = find  # type: ignore[attr-defined]
    meta.__dir__ = names  # type: ignore[assignment,method-assign]


def install_tracer_class(tracer_class: type) -> None:
    """Makes `isinstance(t, Array)` ask `t._is_traced_array()` for instances of `tracer_class`."""
    _b.set_tracer_class(tracer_class)
