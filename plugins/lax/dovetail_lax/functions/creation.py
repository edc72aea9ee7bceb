"""Arrays made of a scalar or of nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import index
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_base.placements import resolve_placement
from dovetail_core import (
    EVAL,
    ExtendedDType,
    ShapedArray,
    TracedValueError,
    get_trace,
    here,
    high_algebra,
    manual_axis_types,
    type_shardings,
)
from dovetail_xla.arrays import ArrayImpl, put_equal
from dovetail_xla.shardings import NamedSharding, Sharding

from ..dtypes import as_dtype, dtype_of, kind_of
from ..primitives.collectives import vary_over
from ..primitives.shape import broadcast_in_dim_p
from ..primitives.values import convert_element_type_p, iota_p
from ..scalars import PYTHON_SCALARS, cast_scalar, has_own_type, integer_as
from .operands import Array, ArrayLike, check
from .values import convert, keep_imaginary


def iota(dtype: Any, size: int) -> Array:
    """``0, 1, ..., size - 1`` of a numeric type."""
    return broadcasted_iota(dtype, (size,), 0)


@reword_errors
def broadcasted_iota(
    dtype: Any, shape: Sequence[int], dimension: int, *, out_sharding: Any = None
) -> Array:
    """``0, 1, 2, ...`` along axis ``dimension`` of an array of ``shape``."""
    if dtype is None:
        raise ValueError(f"broadcasted_iota: dtype must be specified{here()}")
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, broadcasted_iota, dtype, shape, dimension
        )
    return iota_p.bind(dtype=as_dtype(dtype), shape=sizes(shape), dimension=index(dimension))


def full(
    shape: Sequence[int] | int, fill_value: ArrayLike, dtype: Any = None, *, sharding: Any = None
) -> Array:
    """An array filled with a scalar, of ``dtype`` or else of the scalar's own type.

    Raises:
        TypeError: ``fill_value`` is not a scalar, or complex where ``dtype`` is real.
    """
    if sharding is not None:
        if dtype is None and get_trace() is EVAL and isinstance(sharding, Sharding):
            dtype = check("full", fill_value).dtype  # what is put somewhere is not weakly typed
        dims, rest = sizes(shape), (fill_value, dtype)
        result = _in_parts(sharding, dims, lambda part: full(part, *rest))
        return (
            type_shardings.with_out_sharding(sharding, full, dims, *rest)
            if result is None
            else result
        )
    if fill_value.__class__ is int and dtype is not None:
        fill_value = integer_as(fill_value, as_dtype(dtype))
    aval = check("full", fill_value)
    if aval.shape:
        raise TypeError(f"lax.full takes a scalar fill_value, got one of shape {aval.shape}")
    weak = dtype is None and aval.weak_type
    dtype = aval.dtype if dtype is None else as_dtype(dtype)
    if isinstance(dtype, ExtendedDType):
        return _full_extended(sizes(shape), fill_value, dtype)
    keep_imaginary("full", fill_value, dtype)
    fill_value = scalar_of(fill_value, dtype, weak)
    return broadcast_in_dim_p.bind(fill_value, shape=sizes(shape), broadcast_dimensions=())


def _full_extended(shape: tuple[int, ...], value: Any, dtype: Any) -> Array:
    """An array of an element of that type, or of one that is made of a number throughout."""
    if not isinstance(dtype_of(value), ExtendedDType):
        arrays = [full(shape, value, d) for d in dtype.low]
        return high_algebra().make(ShapedArray(shape, dtype), arrays)
    element = convert_element_type_p.bind(value, new_dtype=dtype)
    return broadcast_in_dim_p.bind(element, shape=shape, broadcast_dimensions=())


def full_like(
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: Any = None,
    shape: Sequence[int] | None = None,
    sharding: Any = None,
) -> Array:
    """An array like ``x`` in type and shape (unless given), filled with a scalar."""
    if sharding is not None:
        return type_shardings.with_out_sharding(sharding, full_like, x, fill_value, dtype, shape)
    aval: Any = check("full_like", x)
    if not isinstance(aval, ShapedArray):  # a high value in the role of an array
        aval = getattr(x, "aval", aval)
    dims: tuple[int, ...] = aval.shape if shape is None else sizes(shape)
    placement = placement_like(x, aval, dtype, dims)
    if placement is not None:
        wanted = aval.dtype if dtype is None else dtype
        return _varying(full(dims, fill_value, wanted, sharding=placement), aval)
    weak = dtype is None and aval.weak_type
    wanted = aval.dtype if dtype is None else as_dtype(dtype)
    if fill_value.__class__ is int:
        fill_value = integer_as(fill_value, wanted)
    given = check("full_like", fill_value)
    if given.shape:
        raise TypeError(f"lax.full_like takes a scalar fill_value, got shape {given.shape}")
    if isinstance(wanted, ExtendedDType):
        return _varying(_full_extended(dims, fill_value, wanted), aval)
    keep_imaginary("full_like", fill_value, wanted)
    fill_value = scalar_of(fill_value, wanted, weak)
    out = broadcast_in_dim_p.bind(fill_value, shape=dims, broadcast_dimensions=())
    return _varying(out, aval)


def _varying(x: Array, aval: ShapedArray) -> Array:
    """``x``, known no better along axes of a mesh than values of type ``aval``."""
    return vary_over(x, sorted(manual_axis_types.varying_in(aval.vma), key=str)) if aval.vma else x


_LARGE = 1 << 16


def _in_parts(placement: Any, shape: tuple[int, ...], make: Callable[[Any], Any]) -> Any:
    """A large array, evaluated, all of whose parts ``make`` makes, from a shape: no device has
    more of it than its part. None where it is to be made in another way."""
    if prod(shape) <= _LARGE or get_trace() is not EVAL:
        return None
    placement = resolve_placement("sharding", placement)
    cut = placement.__class__ is NamedSharding and len(placement.device_set) > 1  # type: ignore[attr-defined]
    if not cut or placement.spec.unreduced:  # type: ignore[attr-defined]
        return None
    part = make(placement.shard_shape(shape))
    if part.__class__ is not ArrayImpl or not placement._addressable_device_assignment:
        return None
    return put_equal(part, part.aval.update(shape=shape), placement)


def placement_like(x: Any, aval: ShapedArray, dtype: Any, shape: Sequence[int] | None) -> Any:
    """The sharding of an array like ``x``, or None if nothing determines one.

    Evaluated, it is where ``x`` is, if that is bound to devices or describes an array that is
    (weakly typed ones are not followed); traced, it is that of the type of ``x``.

    Args:
        aval: the type of ``x``.
        dtype: the requested one, None for the same.
        shape: the requested one, None for the same.
    """
    if shape is not None and tuple(shape) != aval.shape:
        return None
    if get_trace() is not EVAL:
        return None if aval.divided is None else getattr(x, "_sharding", aval.divided)
    if (aval.weak_type and dtype is None) or not getattr(x, "_committed", True):
        return None
    return getattr(x, "sharding", None)


def empty(shape: Sequence[int] | int, dtype: Any, *, out_sharding: Any = None) -> Array:
    """An array whose values do not matter (they are zeros)."""
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, empty, shape, dtype)
    return full(shape, 0, dtype)


def shape_as_value(shape: Sequence[int]) -> Array:
    """A shape as a value: a vector of integers."""
    return np.array(sizes(shape), np.int32)


def scalar_of(value: ArrayLike, dtype: Any, weak: bool) -> Any:
    """A scalar as type ``dtype``, weak or not, at no cost where it is a Python scalar."""
    if value.__class__ in PYTHON_SCALARS and kind_of(dtype) != "other":
        own = has_own_type(value.__class__, dtype)
        if own and (weak or value.__class__ is bool):
            return value
        if not weak:
            return _cast(value, dtype)
        for cls in (int, float, complex):
            if has_own_type(cls, dtype):
                return cls(_cast(value, dtype))
    return convert(value, dtype, weak)


def _cast(value: Any, dtype: Any) -> Any:
    """A Python scalar converted as by ``convert_element_type``, as a NumPy scalar."""
    if value.__class__ is complex and kind_of(dtype) == "bool":
        value = value != 0
    if value.__class__ is float and kind_of(dtype) in ("signed", "unsigned"):
        return convert_on_host(value, dtype)
    return cast_scalar(value, dtype)


def convert_on_host(value: float, dtype: Any) -> Any:
    """A float as an integer: truncated, saturated, and zero for NaN."""
    from ..dtypes import iinfo

    info = iinfo(dtype)
    if value != value:
        return dtype.type(0)
    return dtype.type(int(max(info.min, min(info.max, value))))


def sizes(shape: Sequence[int] | int) -> tuple[int, ...]:
    """A shape as a tuple of Python integers; an integer is a shape of one axis.

    Raises:
        TypeError: a size is not an integer, or a tracer whose value is not known.
    """
    if not isinstance(shape, (list, tuple)):
        try:
            return (index(shape),)  # type: ignore[arg-type]
        except TypeError:
            pass
    try:
        return tuple([index(n) for n in shape])  # type: ignore[union-attr]
    except TracedValueError:
        raise
    except TypeError:
        return arguments.integers("shape", shape)
