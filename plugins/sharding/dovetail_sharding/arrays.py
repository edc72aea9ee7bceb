"""Arrays on several devices, made from their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_backends import Array, Format, device_put, value_of
from dovetail_base import arguments
from dovetail_base.placements import is_placement
from dovetail_base.source import here, short_repr
from dovetail_core import ExtendedDType, ShapedArray, cached, canonical_dtype, typeof
from dovetail_tree.util import broadcast_prefix, tree_flatten
from dovetail_xla.arrays import ArrayImpl, assemble, put_sharded
from dovetail_xla.client import Device
from dovetail_xla.shardings import cut_of, single_device_sharding

from .splits import ProcessSplit

Index = tuple[slice, ...]


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Any,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> Array:
    """An array whose parts are the results of ``data_callback(index)``.

    Args:
        shape: of the global array.
        sharding: the sharding of the array.
        data_callback: gets the part's index, a slice for each dimension, and returns it as an
            array of NumPy or of a device. It is called once for parts that are equal.
        dtype: the dtype that the parts must have.

    Raises:
        ValueError: a part has another shape or dtype; the sharding does not divide the shape.
    """
    sharding = _concrete_sharding("make_array_from_callback", sharding)
    shape = arguments.integers("shape", shape)
    wanted = sharding.shard_shape(shape)
    cut = cut_of(sharding, shape)
    own, mine = cut.own, cut.mine
    parts: list[Any] = []
    checked: Any = None  # a dtype that arrays can have
    for i in mine:
        index = cut.indices[i]
        if cut.is_copy[i] and (at := _first(cut, mine, i)) < len(parts):
            part = parts[at]
            # C++ fails where some of the parts, but not all, are one memory.
            part = part if cut.is_replicated or not isinstance(part, np.ndarray) else part.copy()
        else:
            part = data_callback(index)
            is_checked = part.__class__ is np.ndarray and part.dtype is checked
            if not is_checked or part.shape != wanted:
                part = _part(part, wanted, sharding)
                checked = part.dtype
        parts.append(part)
    if not parts and dtype is not None and not sharding.is_fully_addressable:
        aval = ShapedArray(shape, canonical_dtype(dtype))
        return assemble(aval, sharding, [])  # type: ignore[return-value]
    if not parts:
        raise ValueError(
            f"make_array_from_callback{here()}: no device of {sharding!r} is one of this process."
        )
    if isinstance(parts[0].dtype, ExtendedDType):
        return _made_of_lanes(shape, sharding, own, parts, dtype)
    aval = _type_of(shape, _common_dtype(parts, dtype, "make_array_from_callback"))
    return _placed(parts, aval, sharding, own)


@cached(bound=256)
def _type_of(shape: tuple[int, ...], dtype: Any) -> ShapedArray:
    """The type of arrays, cached since many of one type may be made and dropped in turn."""
    return ShapedArray(shape, dtype)


def _first(cut: Any, mine: Sequence[int], i: int) -> int:
    """The position, among this process's parts, of the first one equal to that of device ``i``."""
    return next(k for k, j in enumerate(mine) if cut.indices[j] == cut.indices[i])


def _placed(parts: list[Any], aval: ShapedArray, sharding: Any, own: Sequence[Any]) -> Any:
    if len(own) == 1 and sharding.is_fully_addressable:
        return device_put(parts[0], sharding)
    return put_sharded(parts, aval, sharding, own)


def _part(value: Any, wanted: tuple[int, ...], sharding: Any) -> Any:
    """A part as a NumPy array; one of an extended dtype as it is."""
    if value.__class__ is np.ndarray or isinstance(getattr(value, "dtype", None), ExtendedDType):
        result = value
    else:
        result = value_of(value) if value.__class__ is ArrayImpl else np.asarray(value)
    if result.shape != wanted:
        raise ValueError(
            f"make_array_from_callback{here()}: a part has shape {result.shape}, and those of "
            f"{sharding!r} have shape {wanted}. Return data[index]."
        )
    if result.__class__ is not np.ndarray:
        return result
    aval: Any = typeof(result)  # raises where arrays hold no such elements
    dtype = aval.dtype
    return result if result.dtype == dtype else result.astype(dtype)


def _made_of_lanes(
    shape: tuple[int, ...], sharding: Any, own: Sequence[Any], parts: list[Any], dtype: Any
) -> Any:
    """An array of an extended dtype, made from arrays of its components."""
    kind: Any = _common_dtype(parts, dtype, "make_array_from_callback")
    lanes: list[Any] = []
    for each in zip(*map(kind.arrays_of, parts)):
        values = [np.array(x) for x in each]
        lanes.append(_placed(values, ShapedArray(shape, values[0].dtype), sharding, own))
    return kind.value_of(lanes)


def _common_dtype(parts: Sequence[Any], dtype: Any, name: str) -> np.dtype[Any]:
    result: np.dtype[Any] = parts[0].dtype
    wanted = result
    if dtype is not None and dtype is not result:
        wanted = canonical_dtype(dtype)
    for part in parts:
        if part.dtype is not wanted and part.dtype != wanted:
            other = "that is asked for" if dtype is not None else "of another part"
            raise ValueError(
                f"{name}{here()}: a part has dtype {part.dtype}, and the dtype {other} is "
                f"{wanted}. Convert the parts first."
            )
    return wanted


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Any], *, dtype: Any = None
) -> Array:
    """An array whose parts are arrays on the devices of ``sharding``; nothing is copied.

    Args:
        shape: of the global array.
        sharding: the sharding of the array.
        arrays: one array for each device of this process, in any order.
        dtype: the dtype that the parts must have; required if there are none.

    Raises:
        TypeError: ``arrays`` is no sequence of arrays.
        ValueError: there are not as many as devices, or they are on others; a part has another
            shape or dtype.
    """
    name = "make_array_from_single_device_arrays"
    sharding = _concrete_sharding(name, sharding)
    shape = arguments.integers("shape", shape)
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(
            f"{name}{here()}: arrays must be a list or a tuple, got a value of type "
            f"{type(arrays).__name__}."
        )
    extended = [x.dtype for x in arrays if isinstance(getattr(x, "dtype", None), ExtendedDType)]
    if extended and len(extended) == len(arrays):  # each of the arrays that they are made of
        kind: Any = _common_dtype(arrays, dtype, name)
        lanes = zip(*map(kind.arrays_of, arrays))
        return kind.value_of(
            [make_array_from_single_device_arrays(shape, sharding, list(each)) for each in lanes]
        )
    for x in arrays:
        if x.__class__ is not ArrayImpl:
            raise TypeError(
                f"{name}{here()}: {short_repr(x)} of type {type(x).__name__} is no array on a "
                "device. Put it there with device_put."
            )
    if not arrays and dtype is None:
        raise ValueError(f"{name}{here()}: there are no arrays; give the dtype.")
    parts = _in_order(name, sharding, arrays)
    wanted = sharding.shard_shape(shape)
    for part in parts:
        if part.shape != wanted:
            raise ValueError(
                f"{name}{here()}: a part has shape {part.shape}, and those of an array of shape "
                f"{shape} by {sharding!r} have shape {wanted}."
            )
    result = _common_dtype(parts, dtype, name) if parts else canonical_dtype(dtype)
    return assemble(ShapedArray(shape, result), sharding, parts)  # type: ignore[return-value]


def _in_order(name: str, sharding: Any, given: Sequence[Any]) -> list[Any]:
    """The parts in the order of the sharding's devices of this process."""
    own = list(sharding._internal_device_list.addressable_device_list)
    by_device = {x.device: x for x in given if len(x.devices()) == 1}
    if len(given) != len(own) or any(d not in by_device for d in own):
        raise ValueError(
            f"{name}{here()}: {sharding!r} has {len(own)} devices of this process, {own}, and the "
            f"{len(given)} arrays are on {[x.device for x in given]}. Give one array for each."
        )
    return [by_device[d] for d in own]


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Any = None
) -> Any:
    """An array of which each process gives the part that its devices hold.

    In a single process that is the whole array.

    Args:
        sharding: the sharding of the array, or a pytree like ``local_data``.
        local_data: an array, or a pytree of them.
        global_shape: the global shape of the array; a pytree like ``local_data``. In each dimension
            the data have either the global size or that of the process's part. By default they have
            the part's in all dimensions.

    Raises:
        ValueError: the shape is another one; a process's devices do not hold one block.
    """
    name = "make_array_from_process_local_data"
    leaves, treedef = tree_flatten(local_data)
    shardings = broadcast_prefix(sharding, local_data, is_leaf=_is_sharding)
    shapes: list[Any] = [None] * len(leaves)
    if global_shape is not None:
        shapes = broadcast_prefix(global_shape, local_data, is_leaf=_is_shape)
    triples = zip(leaves, shardings, shapes, strict=True)
    return treedef.unflatten([_from_local(name, x, p, s) for x, p, s in triples])


def _is_sharding(x: Any) -> bool:
    return isinstance(x, Format) or is_placement(x)


def _is_shape(x: Any) -> bool:
    return x is None or (
        isinstance(x, tuple) and all(n is None or isinstance(n, (int, np.integer)) for n in x)
    )


def _from_local(name: str, data: Any, sharding: Any, shape: Any) -> Any:
    sharding = _concrete_sharding(name, sharding)
    if sharding.is_fully_addressable:
        if shape is not None and tuple(shape) != np.shape(data):
            raise ValueError(
                f"{name}{here()}: global_shape is {shape} and the data of the only process has "
                f"shape {np.shape(data)}. Leave global_shape out."
            )
        return device_put(data, sharding)
    if shape is not None:
        shape = arguments.integers("global_shape", shape)
    local = value_of(data) if data.__class__ is ArrayImpl else np.asarray(data)
    split = ProcessSplit(name, sharding, local.ndim)
    shape = split.global_shape(local.shape, shape)
    return make_array_from_callback(
        shape, sharding, lambda index: local[split.local_index(index, local.shape, shape)]
    )


def _concrete_sharding(name: str, given: Any) -> Any:
    """The sharding of an argument that may be a sharding, a device or a format.

    Raises:
        ValueError: it has no devices.
    """
    if isinstance(given, Format):
        given = given.sharding
    sharding = arguments.placement(f"sharding of {name}", given)
    if isinstance(sharding, Device):
        return single_device_sharding(sharding)
    if not sharding._is_concrete:
        raise ValueError(
            f"{name}{here()}: {sharding!r} has no devices. Make the sharding with a Mesh."
        )
    return sharding
