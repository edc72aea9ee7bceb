"""Host values as arrays of a device: NumPy values and Python scalars, always copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_base.errors import integer_too_large
from dovetail_base.placements import surroundings
from dovetail_core import ShapedArray, float0, here, typeof
from dovetail_core.types.avals import undivided
from dovetail_xla import arrays
from dovetail_xla.arrays import ArrayImpl, XlaRuntimeError
from dovetail_xla.shardings import single_device_sharding

from . import formats as formats  # so that arrays have theirs
from .array import value_of
from .array.layouts import in_usual_layout
from .selection import target_device
from .transfer import move, move_to_device, put_on

_PYTHON = (bool, int, float, complex)


def asarray_on(x: Any, aval: ShapedArray, device: Any, committed: bool = False) -> Any:
    """``x`` as an array of type ``aval`` on ``device``.

    NumPy values and Python scalars are converted to the type's dtype and copied: later writes to
    their memory do not show. An array that is on the device already is returned as it is. What the
    type tells of axes of a mesh is left out: on one device nothing is divided.

    Raises:
        TypeError: no device can hold the dtype.
        OverflowError: a Python integer is out of the type's range.
        ValueError: the shape is not the type's, or it is a masked array.
        RuntimeError: ``x`` is an array that was deleted or donated.
    """
    if x.__class__ is ArrayImpl:
        return move_to_device(x, device)
    value = host_value(x, aval)
    if aval.dtype == float0:  # holds nothing; compiled programs take booleans in its place
        return arrays.put(value, ShapedArray(aval.shape, np.bool_), device, committed)
    try:
        return arrays.put(value, undivided(aval), device, committed)
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
        return in_usual_layout(x) if same and not x.is_deleted() else move(x, sharding)
    if aval.dtype == float0:
        aval = ShapedArray(aval.shape, np.bool_)
        x = np.zeros(aval.shape, np.bool_)
    return put_on(host_value(x, aval), aval, sharding)


def rows_on_host(x: Any) -> Iterator[Any] | None:
    """The arrays that ``x`` is a stack of, cut from its memory where that is the host's, else None.

    A row costs a copy of it, and no program has to be compiled.
    """
    sharding = x._sharding
    device = next(iter(sharding.device_set))
    if device.platform != "cpu" or sharding is not single_device_sharding(device):
        return None
    aval = ShapedArray(x.aval.shape[1:], x.aval.dtype, x.aval.weak_type)
    return _cut(value_of(x), aval, device, x._committed)


def _cut(value: Any, aval: ShapedArray, device: Any, committed: bool) -> Iterator[Any]:
    for row in value:
        yield arrays.put(row, aval, device, committed)


def put_host(x: Any, aval: ShapedArray) -> Any:
    """:func:`asarray_on` the default device, uncommitted, or on all devices that are set."""
    around = surroundings()
    if around is not None and x.__class__ is not ArrayImpl:
        return asarray_in(x, aval, around)
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
        place = single_device_sharding(target_device()) if sharding is None else sharding
        return put_on(host_value(x, aval), aval, place, sharding is not None, shared=True)
    if sharding is None:  # whatever mesh is set
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
