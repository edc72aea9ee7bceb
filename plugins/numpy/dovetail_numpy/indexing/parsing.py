"""Parsing of an index: a hashable key of its static parts, and the operands.

What follows from the key and the array's shape is worked out once (``layout``), so that indexing
again with another number, or with another array of indices, costs a lookup.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from dovetail_base.source import short_repr
from dovetail_core import (
    NonConcreteBooleanIndexError,
    ShapedArray,
    Tracer,
    TracerIntegerConversionError,
    current_source,
    describe_source,
    here,
)

from ..promotion import default_int
from .windows import Slice, Windowed


class IndexTypeError(TypeError, IndexError):
    """A value that is no index: an IndexError as in NumPy, and a TypeError."""


class TracedSliceError(TracerIntegerConversionError, IndexError):
    """A slice of which a bound is traced, so that its size is not known."""


INT, NONE, DOTS, SLICE, ARRAY, HOST, FLAG = range(7)
"""Kinds of key items: an integer, None, Ellipsis, a slice, an integer array or traced integer,
an integer NumPy array (negative numbers may be counted from the end at once), a boolean scalar."""

Key = tuple[Any, ...]


def parse(index: Any) -> tuple[Key, list[Any]]:
    """The key of an index, and its operands in order.

    Raises:
        IndexError, TypeError: an item is none of integers, slices, None, Ellipsis and arrays.
        NonConcreteBooleanIndexError: an item is a traced boolean array.
    """
    items = index if index.__class__ is tuple else (index,)
    key: list[Any] = []
    operands: list[Any] = []
    for item in items:
        cls = item.__class__
        if cls is int:
            key.append(INT)
            operands.append(item)
        elif cls is slice:
            key.append(_slice_key(item))
        elif item is None:
            key.append(NONE)
        elif item is Ellipsis:
            key.append(DOTS)
        else:
            _parse_other(item, items is index, key, operands)
    return tuple(key), operands


def _slice_key(s: slice) -> tuple[Any, ...]:
    start, stop, step = s.start, s.stop, s.step
    for v in (start, stop, step):
        if v is not None and v.__class__ is not int:
            return SLICE, _bound(start), _bound(stop), _bound(step)
    return SLICE, start, stop, step


def _bound(v: Any) -> int | None:
    if v is None:
        return None
    try:
        return operator.index(v)
    except TracerIntegerConversionError:
        raise TracedSliceError(
            f"a slice bound of type {v.aval.str_short()} is traced"
            f"{describe_source(current_source())}, so that the size of the result is not "
            "known. Use dovetail.lax.dynamic_slice (dynamic_slice_in_dim) with a "
            "fixed size, or select elements with dovetail.numpy.where."
        ) from None
    except TypeError:
        raise TypeError(
            f"slice bounds must be integers or None, got {short_repr(v)} of type "
            f"{type(v).__name__}{here()}"
        ) from None


def _parse_other(item: Any, in_tuple: bool, key: list[Any], operands: list[Any]) -> None:
    if isinstance(item, (list, tuple)):
        item = _sequence(item, in_tuple)
    if isinstance(item, (bool, np.bool_)):
        key.append((FLAG, bool(item)))
        return
    if isinstance(item, np.generic) and item.dtype.kind in "iu":
        key.append(INT)
        operands.append(int(item))
        return
    if isinstance(item, np.ndarray):
        _host_array(item, key, operands)
        return
    aval: Any = getattr(item, "aval", None)
    if isinstance(aval, ShapedArray):
        _traced_array(item, aval, key, operands)
        return
    if hasattr(item.__class__, "__index__"):  # of a class itself it is a method
        key.append(INT)
        operands.append(operator.index(item))  # type: ignore[arg-type]
        return
    if item.__class__ is Slice:
        raise Windowed
    convert = getattr(item, "__jax_array__", None)
    if convert is not None:
        _parse_other(convert(), in_tuple, key, operands)
        return
    _refuse(item, None)


def _traced_array(item: Any, aval: ShapedArray, key: list[Any], operands: list[Any]) -> None:
    """Add an array or tracer to the key: integers are operands, masks must be concrete."""
    if aval.dtype.kind in "iu":
        key.append((ARRAY, aval.shape, aval.dtype))
        operands.append(item)
    elif aval.dtype.kind == "b":
        _host_array(_concrete_mask(item, aval), key, operands)
    else:
        _refuse(item, aval.dtype)


def _sequence(item: Sequence[Any], in_tuple: bool) -> Any:
    if not in_tuple:
        raise TypeError(
            f"indexing with a {type(item).__name__} is ambiguous: use x[numpy.array(...)] to pick "
            f"elements, or x[tuple(...)] to index several axes; got {short_repr(item)}{here()}"
        )
    if any(hasattr(i, "aval") for i in item):
        from ..creation.arrays import asarray

        return asarray(item)
    value = np.asarray(item)
    return value.astype(np.int32) if not value.size else value


def _host_array(item: np.ndarray[Any, Any], key: list[Any], operands: list[Any]) -> None:
    kind = item.dtype.kind
    if kind in "iu":
        if item.ndim == 0:
            key.append(INT)
            operands.append(int(item))
            return
        key.append((HOST, item.shape))
        operands.append(item.astype(default_int(), copy=False))
    elif kind == "b":
        if item.ndim == 0:
            key.append((FLAG, bool(item)))
            return
        # A mask means the indices of its true elements, one array per dimension of it.
        for axis, result in enumerate(np.nonzero(item)):
            key.append((HOST, result.shape, item.shape[axis], axis))
            operands.append(result.astype(default_int(), copy=False))
    else:
        _refuse(item, item.dtype)


def _concrete_mask(item: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
    concrete = item.concrete() if isinstance(item, Tracer) else item
    if concrete is None:
        raise NonConcreteBooleanIndexError(
            f"a boolean array of type {aval.str_short()} is used as an index"
            f"{describe_source(current_source())} while it is being traced, so that the size of "
            "the result is not known. Use dovetail.numpy.where(mask, x, other) to select by the "
            "mask, x.at[...] with such a where to update, or "
            "dovetail.numpy.nonzero(mask, size=...) for a fixed number of indices."
        )
    return np.asarray(concrete)


def _refuse(item: Any, dtype: Any) -> NoReturn:
    source = describe_source(current_source())
    if isinstance(item, str):
        raise TypeError(f"arrays cannot be indexed by strings, got {item!r}{source}")
    if dtype is not None or isinstance(item, (float, complex)):
        named = dtype if dtype is not None else type(item).__name__
        raise IndexTypeError(
            f"an index must be of integers or booleans, got {short_repr(item)} of dtype {named}"
            f"{source}. Convert it with astype(int)."
        )
    raise IndexTypeError(
        "only integers, slices, Ellipsis, None and arrays of integers or booleans are indices, got "
        f"{short_repr(item)} of type {type(item).__name__}{source}"
    )
