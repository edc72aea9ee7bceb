"""Arrays from values: Python numbers, nested lists, NumPy arrays, buffers, others' arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_base.errors import integer_too_large
from dovetail_base.source import called, short_repr
from dovetail_core import ShapedArray, canonical_dtype, dtype_named, here, typeof
from dovetail_lax import dtypes
from dovetail_lax.errors import ShapeError
from dovetail_tree.errors import too_deep

from ..operands import (
    PYTHON_SCALARS,
    Array,
    ArrayLike,
    DTypeError,
    DTypeLike,
    has_array_conversion,
    operand,
)
from ..operations import strong
from ..promotion import convert, default_int
from . import placement


def as_array(name: str, x: ArrayLike, position: int = 0) -> Array:
    """An argument as an array or tracer; Python numbers stay weakly typed.

    Raises:
        TypeError: ``x`` is a list, or otherwise no array; names the function and the position.
    """
    if hasattr(x, "aval") and not has_array_conversion(x):
        _refuse_mutable(name, x)
        return x
    value = operand(name, x, position)
    if hasattr(value, "aval"):
        return value
    return _put_checked(value)


def _refuse_mutable(name: str, x: Any) -> None:
    try:
        is_mutable = x.aval.is_mutable
    except AttributeError:  # a container with the attributes of arrays
        raise TypeError(
            f"{name} takes arrays, got {short_repr(x)} of type {type(x).__name__}{here()}, whose "
            "aval is no type. Pass its parts."
        ) from None
    if is_mutable:
        raise TypeError(
            f"{name} takes arrays, got {x.aval.str_short()}{here()}, which is mutable. Pass what "
            "it holds: ref[...]"
        )


def _put_checked(value: Any) -> Array:
    aval: Any = typeof(value)
    bits = aval.dtype.itemsize * 8 - 1
    if value.__class__ is int and not -(1 << bits) <= value < 1 << bits:
        raise integer_too_large(value, aval.dtype)
    return placement.put(value if value.__class__ in PYTHON_SCALARS else np.asarray(value), aval)


def asarray(
    a: Any, dtype: DTypeLike = None, order: str | None = None, *, copy: bool | None = None,
    device: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """``a`` as an array: a number, a nested sequence, a NumPy array, a buffer or an array.

    Args:
        dtype: the element type; by default that of ``a``. Python numbers alone are weakly typed.
        copy: True forces a new buffer, False refuses one.
        device: a device or sharding to put the array on.

    Raises:
        TypeError: ``a`` holds something other than numbers.
        ValueError: ``a`` is ragged, masked or None, or a copy is needed with ``copy=False``.
    """
    if not copy and isinstance(a, np.ndarray) and a.__class__ is not np.ndarray:
        typeof(a)  # refuses masked arrays
    return array(a, dtype, copy=bool(copy) if copy is not False else False, order=order or "K",
                 device=device, out_sharding=out_sharding)  # fmt: skip


def array(
    object: Any, dtype: DTypeLike = None, copy: bool = True, order: str | None = "K",
    ndmin: int = 0, *, device: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Like :func:`asarray`; ``copy`` is the default and ``ndmin`` adds leading axes.

    The copy of a masked array has no mask.
    """
    if order not in (None, "K", "C", "A"):
        raise NotImplementedError(
            f"array: order={order!r} is not supported, only 'K' and 'C' are{here()}"
        )
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if hasattr(object, "aval") and not has_array_conversion(object):
        _refuse_mutable("array", object)
        out = object if wanted is None else lax.convert_element_type(object, wanted)
        out = lax.copy_p.bind(out) if copy and out is object else out
    else:
        out = _from_host(object, wanted)
    if ndmin > out.ndim:
        out = lax.expand_dims(out, range(ndmin - out.ndim))
    target = placement.resolve(device, out_sharding)
    return out if target is None else placement.to_device(out, target)


_NUMBERS = frozenset("?bhilqBHILQefdFD")
"""The characters of NumPy's own dtypes that arrays can have."""


def _from_host(x: Any, dtype: Any) -> Array:
    cls = x.__class__
    if cls is np.ndarray and x.dtype.char in _NUMBERS:
        own = canonical_dtype(x.dtype) if dtype is None else dtype
        return placement.put(np.asarray(x, own), ShapedArray(x.shape, own))
    if cls in PYTHON_SCALARS:
        return _put_checked(x) if dtype is None else placement.constant(_cast(x, dtype))
    if isinstance(x, (list, tuple)):
        return _from_sequence(x, dtype)
    if x is None:
        raise ValueError(f"array: None is not a valid value{called()}. Pass a number or an array.")
    if hasattr(x, "__jax_array__"):
        return strong(asarray(x.__jax_array__(), dtype))
    try:
        value = (
            np.asarray(memoryview(x)) if isinstance(x, (bytearray, memoryview)) else np.asarray(x)
        )
        typeof(value)
    except Exception as e:
        raise TypeError(
            f"array: {short_repr(x)} of type {type(x).__name__} is no array of numbers{called()}: "
            f"{e}"
        ) from None
    own = dtypes.dtype_of(value.dtype) if dtype is None else dtype
    return placement.constant(value.astype(own, copy=False))


def _cast(x: Any, dtype: Any) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(x, dtype)
    except OverflowError:
        raise integer_too_large(x, dtype) from None


def _from_sequence(x: Any, dtype: Any) -> Array:
    try:
        leaves = list(_leaves(x))
    except RecursionError:
        raise too_deep() from None
    if any(_converts_itself(leaf) for leaf in leaves):
        x = _with_arrays(x)
        leaves = list(_leaves(x))
    if any(hasattr(leaf, "aval") or hasattr(leaf, "__jax_array__") for leaf in leaves):
        return _stacked(x, dtype, leaves)
    if dtype is None and leaves:
        dtype = _leaf_dtype(leaves)
    if any(leaf is None for leaf in leaves):
        raise TypeError(f"array: None is no number{called()}. Write nan where a value is missing.")
    try:
        value = np.array(x, dtype) if leaves else np.zeros(np.shape(x), dtype or _empty_dtype())
    except OverflowError:
        largest = max((v for v in leaves if isinstance(v, int)), key=abs)
        raise integer_too_large(largest, dtype) from None
    except ValueError as e:
        raise ValueError(
            f"array: {short_repr(x)} is not rectangular{called()}: {e}. All rows must have one "
            "shape."
        ) from None
    return placement.constant(value)


def _converts_itself(x: Any) -> bool:
    """True for an object of another library that NumPy converts by its ``__array__``."""
    cls = x.__class__
    return cls not in PYTHON_SCALARS and hasattr(cls, "__array__") and not (
        isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "aval") or hasattr(x, "__jax_array__")
    )  # fmt: skip


def _with_arrays(x: Any) -> Any:
    """A sequence in which elements that convert themselves are the arrays that they make."""
    if isinstance(x, (list, tuple)):
        return [_with_arrays(item) for item in x]
    return np.asarray(x) if _converts_itself(x) else x


def _empty_dtype() -> Any:
    return canonical_dtype(np.float64)


def _leaves(x: Any) -> Iterator[Any]:
    for item in x:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


def _leaf_dtype(leaves: list[Any]) -> Any:
    classes = {leaf.__class__ for leaf in leaves}
    for cls in (complex, float, int):
        if classes <= {bool, int, float, complex} and cls in classes:
            return dtypes.scalar_dtype(cls) if cls is not int else default_int()
    if classes == {bool}:
        return np.dtype(np.bool_)
    for leaf in leaves:
        if leaf is None or isinstance(leaf, (str, bytes)):
            raise DTypeError(
                f"array: {short_repr(leaf)} is no valid element{called()}. Pass numbers only."
            )
    types = []
    for leaf in leaves:
        aval: Any = typeof(leaf if leaf.__class__ in PYTHON_SCALARS else np.asarray(leaf))
        types.append((aval.dtype, aval.weak_type))
    return dtypes.common_type(list(dict.fromkeys(types)))[0]


def _stacked(x: Any, dtype: Any, leaves: list[Any]) -> Array:
    """A sequence that holds arrays or tracers, put together by one concatenation per level."""
    if dtype is None:
        types = [typeof(operand("array", leaf)) for leaf in leaves]
        dtype = dtypes.common_type([(t.dtype, t.weak_type) for t in types])[0]  # type: ignore
    for source in {dtypes.dtype_of(operand("array", leaf)) for leaf in leaves}:
        dtypes.warn_imaginary(source, dtype)
    parts = [_stacked(i, dtype, []) if isinstance(i, (list, tuple)) else
             convert(as_array("array", i), dtype) for i in x]  # fmt: skip
    shapes = {p.shape for p in parts}
    if len(shapes) > 1:
        raise ShapeError(
            f"array: the elements have different shapes: {', '.join(map(str, shapes))}{called()}. "
            "All must have one shape."
        )
    if not parts:
        return placement.constant(np.zeros((0,), dtype))
    return strong(lax.stack_p.bind(*parts, axis=0))


def copy(a: ArrayLike, order: str | None = None) -> Array:
    """A copy of an array."""
    return array(a, copy=True, order=order or "K")


def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> Array:
    """A one-dimensional array from the bytes of a buffer."""
    count, offset = arguments.integer("count", count), arguments.integer("offset", offset)
    wanted = dtype_named(dtype)
    try:
        return asarray(np.frombuffer(buffer, wanted, count, offset))
    except (TypeError, ValueError, BufferError, AttributeError) as e:
        raise type(e)(f"frombuffer: buffer cannot be read{called()}: {e}") from None


def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """A one-dimensional array from numbers written in text."""
    arguments.string("string", string)
    arguments.string("sep", sep)
    count, wanted = arguments.integer("count", count), dtype_named(dtype)
    try:
        return asarray(np.fromstring(string, wanted, count, sep=sep))
    except (TypeError, ValueError) as e:
        raise type(e)(f"fromstring: string cannot be read{called()}: {e}") from None


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array from any object with ``__dlpack__``; shares its memory unless ``copy``."""
    from dovetail_backends import from_dlpack as exchange

    return exchange(x, device=device, copy=copy)
