"""Arguments of public functions: arrays, axes, shapes, and the errors for other values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from dovetail_base import arguments
from dovetail_base.source import called, short_repr
from dovetail_core import Cache, ShapedArray, Tracer, canonical_dtype, here, typeof
from dovetail_lax.errors import ShapeError

ArrayLike: TypeAlias = Any
"""An array, a tracer, a NumPy array or scalar, or a Python number."""

Array: TypeAlias = Any
"""A runtime array, or a tracer."""

DTypeLike: TypeAlias = Any
Axis: TypeAlias = int | Sequence[int] | None


class UnsupportedError(NotImplementedError, ValueError):
    """A value of an option that NumPy has and arrays here have not."""


class DTypeError(TypeError, ValueError):
    """An element type that a function does not accept: a TypeError or a ValueError to callers."""


PYTHON_SCALARS = frozenset((bool, int, float, complex))


def has_array_conversion(x: Any) -> bool:
    """True if the class of ``x``, or its type while traced, has a ``__jax_array__``.

    Such an object may forward all attributes, ``aval`` too, to an array that it wraps.
    """
    if hasattr(x.__class__, "__jax_array__"):
        return True
    return isinstance(x, Tracer) and hasattr(x.aval.__class__, "__jax_array__")


def operand(name: str, x: ArrayLike, position: int = 0) -> Any:
    """``x`` as an operand of primitives; NumPy values get the dtype that arrays would have.

    Raises:
        TypeError: ``x`` is no array and no number; names the function, the position and the remedy.
    """
    if x.__class__ in PYTHON_SCALARS or (hasattr(x, "aval") and not has_array_conversion(x)):
        return x
    if isinstance(x, np.ndarray):
        _check_numpy(name, x, position)
        return np.asarray(x, canonical_dtype(x.dtype))
    if isinstance(x, np.generic):
        _check_numpy(name, x, position)
        dtype = canonical_dtype(x.dtype)
        return x if x.dtype == dtype else dtype.type(x)
    for base in (bool, int, float, complex):
        if isinstance(x, base):
            scalar: Any = base
            return scalar(x)
    convert = getattr(x, "__jax_array__", None)
    if convert is not None:
        return operand(name, convert(), position)
    refuse(name, x, position)


def _check_numpy(name: str, x: Any, position: int) -> None:
    """Refuse strings, objects, dates and masked arrays."""
    try:
        typeof(x)
    except (TypeError, ValueError) as e:
        raise type(e)(f"{name}, position {position}: {e}") from None


def refuse(name: str, x: object, position: int = 0) -> NoReturn:
    """Raise the TypeError for an argument that is no array."""
    remedy = "Convert it first with dovetail.numpy.asarray."
    if x is None or isinstance(x, str):
        remedy = "Pass an array or a number."
    raise TypeError(
        f"{name} requires an array or a scalar at position {position}, got {type(x).__name__} "
        f"({short_repr(x)}){here()}. {remedy}"
    )


def aval_of(name: str, x: ArrayLike, position: int = 0) -> ShapedArray:
    """The type of an array argument."""
    aval: Any = getattr(x, "aval", None)
    if aval is None:
        aval = typeof(operand(name, x, position))
    if aval.__class__ is not ShapedArray:
        raise TypeError(
            f"{name} requires an array at position {position}, got a value of type "
            f"{aval.str_short()}{here()}"
        )
    return aval


def no_out(name: str, out: object) -> None:
    """Refuse ``out=``: arrays are immutable.

    Raises:
        NotImplementedError: ``out`` is given.
    """
    if out is not None:
        raise UnsupportedError(
            f"the 'out' argument of {name} is not supported{here()}: arrays are immutable. Use the "
            "returned array instead."
        )


def integer(name: str, what: str, x: Any) -> int:
    """``x`` as a Python integer (tracers give their own error).

    Raises:
        TypeError: it is not an integer.
    """
    return x if x.__class__ is int else arguments.integer(f"{name}: {what}", x)


def shape_tuple(name: str, shape: Any) -> tuple[int, ...]:
    """A shape given as an integer or a sequence of integers.

    Raises:
        TypeError: it holds something other than integers.
        ShapeError: a dimension is negative; a TypeError and a ValueError.
    """
    if shape.__class__ is tuple:
        for d in shape:
            if d.__class__ is not int or d < 0:
                break
        else:
            return shape
    if isinstance(shape, (str, bytes, dict, set)):
        raise TypeError(
            f"{name}: a shape is an integer or a sequence of integers, got {short_repr(shape)}"
            f"{here()}"
        )
    if not isinstance(shape, Iterable) or getattr(shape, "shape", None) == ():
        shape = (shape,)
    dims = tuple(integer(name, "every dimension of a shape", d) for d in shape)
    if any(d < 0 for d in dims):
        raise ShapeError(f"{name}: dimensions of a shape cannot be negative, got {dims}{here()}")
    return dims


def flag(argument: str, value: Any) -> bool:
    """``value`` as a boolean.

    Raises:
        TypeError: it has no truth value.
    """
    if value.__class__ is bool:
        return value
    try:
        return bool(value)
    except ValueError:
        raise TypeError(
            f"{argument} must be True or False, got {short_repr(value)}{called()}"
        ) from None


def axis_index(name: str, axis: Any, ndim: int) -> int:
    """One axis as a number from 0.

    Raises:
        AxisError: it is out of bounds; a ValueError and an IndexError.
    """
    i = axis if axis.__class__ is int else integer(name, "axis", axis)
    if not -ndim <= i < ndim:
        remedy = f"Use an axis from {-ndim} to {ndim - 1}." if ndim else "A scalar has none."
        raise np.exceptions.AxisError(
            f"{name}: axis {i} is out of bounds for an array of {ndim} "
            f"dimension{'' if ndim == 1 else 's'}{here()}. {remedy}"
        )
    return i + ndim if i < 0 else i


_axes_memo: Cache[tuple[Any, int], tuple[int, ...]] = Cache()


def axis_tuple(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes given as None (all of them), an integer or a sequence, as numbers from 0 in order given.

    Raises:
        ValueError: an axis is out of bounds or given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    try:
        cached = _axes_memo.get((axis, ndim)) if axis.__class__ in (int, tuple) else None
    except TypeError:  # a tuple of something that cannot be hashed
        cached = None
    if cached is not None:
        return cached
    given = tuple(axis) if _is_sequence(axis) else (axis,)
    axes = tuple(axis_index(name, a, ndim) for a in given)
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{name}: duplicate axis in {given}{here()}. Name each axis once.")
    if all(a.__class__ is int for a in given):
        _axes_memo[given if axis.__class__ is not int else axis, ndim] = axes
    return axes


def names_of(axis: Any) -> tuple[str, ...]:
    """The names among the axes ``axis``: axes of a map around the function."""
    if axis.__class__ is int or axis is None:
        return ()
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(a for a in given if isinstance(a, str))


def positions_of(axis: Any) -> tuple[Any, ...]:
    """The axes among ``axis`` that are no names."""
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(a for a in given if not isinstance(a, str))


def _is_sequence(axis: Any) -> bool:
    return (
        isinstance(axis, Iterable)
        and not hasattr(axis, "aval")
        and getattr(axis, "shape", None) != ()
    )


def static_axis(axis: Any) -> Any:
    """An axis argument as a hashable value."""
    if axis is None or axis.__class__ is int:
        return axis
    if getattr(axis, "shape", None) != () and isinstance(axis, Iterable):
        return tuple(integer("axis", "each axis", a) for a in axis)
    return integer("axis", "it", axis)
