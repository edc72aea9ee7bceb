"""Arrays filled with one value: zeros, ones, full, empty, and those like another array."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

import numpy as np

import dovetail_lax as lax
from dovetail_base.errors import integer_too_large
from dovetail_core import ExtendedDType, ShapedArray, canonical_dtype, float0, typeof
from dovetail_lax import dtypes

from ..operands import Array, ArrayLike, DTypeLike, operand, shape_tuple
from ..promotion import broadcast_shapes, convert, python_scalar
from . import placement
from .arrays import as_array

Shape = int | Sequence[int]
_FLOAT = np.dtype(np.float64)


def _filled(shape: tuple[int, ...], value: Any, dtype: Any, weak: bool = False) -> Array:
    """An array of one host value."""
    if isinstance(dtype, ExtendedDType):
        return lax.full(shape, value, dtype)
    aval = ShapedArray(shape, dtype, weak)  # raises for sizes that are too large
    if placement.on_host(prod(shape)):
        try:
            host = np.full(shape, value, dtype)
        except OverflowError:
            raise integer_too_large(value, dtype) from None
        return placement.put(host, aval)
    scalar = python_scalar(value, dtype, True) if weak else np.asarray(value).astype(dtype)[()]
    return lax.broadcast_in_dim_p.bind(scalar, shape=shape, broadcast_dimensions=())


def _filled_at(
    shape: tuple[int, ...], value: Any, dtype: Any, weak: bool, device: Any, out_sharding: Any
) -> Array:
    """An array of one host value on a device, or sharded: a large one is made shard by shard."""
    if dtype == float0:
        return cast("Array", np.zeros(shape, float0))  # the dtype of no derivative is NumPy's
    target = placement.resolve(device, out_sharding)
    if target is None:
        return _filled(shape, value, dtype, weak)
    weak = weak and (device is None or placement.is_traced())  # arrays put on devices are strong
    if not weak and not placement.on_host(prod(shape)) and not placement.is_one_device(target):
        ShapedArray(shape, dtype)
        return lax.full(shape, value, dtype, sharding=target)
    return placement.to_device(_filled(shape, value, dtype, weak), target)


def _put_on(x: Array, device: Any, out_sharding: Any = None) -> Array:
    target = placement.resolve(device, out_sharding)
    return x if target is None else placement.to_device(x, target)


def zeros(
    shape: Shape, dtype: DTypeLike = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of zeros, by default of the default floating-point type.

    Raises:
        TypeError: the shape is not made of integers, or the dtype is not one of numbers.
        ValueError: a dimension is negative.
    """
    dt = canonical_dtype(_FLOAT) if dtype is None else dtypes.as_dtype(dtype)
    return _filled_at(shape_tuple("zeros", shape), 0, dt, False, device, out_sharding)


def ones(
    shape: Shape, dtype: DTypeLike = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of ones (see :func:`zeros`)."""
    dt = canonical_dtype(_FLOAT) if dtype is None else dtypes.as_dtype(dtype)
    return _filled_at(shape_tuple("ones", shape), 1, dt, False, device, out_sharding)


def empty(
    shape: Shape, dtype: DTypeLike = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array whose contents do not matter (zeros)."""
    return zeros(shape, dtype, device=device, out_sharding=out_sharding)


def full(
    shape: Shape, fill_value: ArrayLike, dtype: DTypeLike = None, *, device: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """An array filled with ``fill_value``, a number or an array that broadcasts to ``shape``.

    Raises:
        TypeError: the shape is not made of integers, or ``fill_value`` does not broadcast to it.
    """
    dims = shape_tuple("full", shape)
    value = operand("full", fill_value, 1)
    aval: Any = typeof(value)
    weak = dtype is None and aval.weak_type
    dt = aval.dtype if dtype is None else dtypes.as_dtype(dtype)
    if not hasattr(value, "aval") and np.ndim(value) == 0:
        scalar = python_scalar(value, dt, weak) if aval.weak_type else value
        return _filled_at(dims, scalar, dt, weak, device, out_sharding)
    else:
        broadcast_shapes("full", aval.shape, dims)
        dtypes.warn_imaginary(aval.dtype, dt)
        value = lax.convert_element_type_p.bind(value, new_dtype=dt, weak_type=weak)
        first = len(dims) - len(aval.shape)
        out = lax.broadcast_in_dim(value, dims, range(first, len(dims)))
    return _put_on(out, device, out_sharding)


def full_like(
    a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, shape: Any = None, *,
    device: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """An array of the type and shape of ``a``, unless given, filled with ``fill_value``."""
    aval = _type_like("full_like", a)
    dims = aval.shape if shape is None else shape_tuple("full_like", shape)
    weak = dtype is None and aval.weak_type
    dt = aval.dtype if dtype is None else dtypes.as_dtype(dtype)
    value = operand("full_like", fill_value, 1)
    if device is None and out_sharding is None and np.ndim(value) == 0 and _is_bound(a, aval):
        return lax.full_like(a, value, dtype, dims)
    if hasattr(value, "aval") or np.ndim(value):
        out = full(dims, value, dt, device=device, out_sharding=out_sharding)
        return lax.convert_element_type_p.bind(out, new_dtype=dt, weak_type=True) if weak else out
    return _filled_at(dims, convert(value, dt, weak), dt, weak, device, out_sharding)


def _type_like(name: str, a: Any) -> ShapedArray:
    if not hasattr(a, "aval") and hasattr(a, "shape") and hasattr(a, "dtype"):
        return ShapedArray(tuple(a.shape), canonical_dtype(a.dtype))  # also shape-dtype structs
    return as_array(name, a).aval


def _is_bound(a: Any, aval: ShapedArray) -> bool:
    """True if an array like ``a`` must have the placement of ``a``, or vary as it does."""
    if aval.divided is not None or aval.vma:
        return True
    return getattr(a, "_committed", True) and getattr(a, "sharding", None) is not None


def _constant_like(
    name: str, a: Any, value: int, dtype: Any, shape: Any, device: Any, out_sharding: Any
) -> Array:
    aval = a.aval if hasattr(a, "aval") else _type_like(name, a)
    dims = aval.shape if shape is None else shape_tuple(name, shape)
    weak = dtype is None and aval.weak_type
    dt = aval.dtype if dtype is None else dtypes.as_dtype(dtype)
    if device is None and out_sharding is None and _is_bound(a, aval):
        return lax.full_like(a, value, dtype, dims)
    return _filled_at(dims, value, dt, weak, device, out_sharding)


def zeros_like(
    a: ArrayLike, dtype: DTypeLike = None, shape: Any = None, *, device: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Zeros in the type and shape of ``a``, unless given."""
    return _constant_like("zeros_like", a, 0, dtype, shape, device, out_sharding)


def ones_like(
    a: ArrayLike, dtype: DTypeLike = None, shape: Any = None, *, device: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Ones in the type and shape of ``a``, unless given."""
    return _constant_like("ones_like", a, 1, dtype, shape, device, out_sharding)


def empty_like(
    prototype: ArrayLike, dtype: DTypeLike = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array of the type and shape of ``prototype`` whose contents do not matter (zeros)."""
    return _constant_like("empty_like", prototype, 0, dtype, shape, device, None)
