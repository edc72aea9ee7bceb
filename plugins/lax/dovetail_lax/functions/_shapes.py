"""Shapes, axes and operands as users give them: canonical tuples of Python ints, or a clear "
"error."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from dovetail_core import TracedValueError, typeof

from ..errors import OutOfBounds
from ..primitives._elementwise import place

Shape = tuple[int, ...]


def shape_of(x: Any) -> Shape:
    """The shape of a value: an array, a tracer, a NumPy value or a Python scalar."""
    try:
        return x.shape
    except AttributeError:
        return typeof(x).shape  # type: ignore[attr-defined]


def on_host(x: Any) -> bool:
    """Whether ``x`` is not yet an array of the runtime (functions never return such a value)."""
    return isinstance(x, (np.ndarray, np.generic, int, float, complex))


def ints(name: str, argument: str, values: Any) -> Shape:
    """``values`` as a tuple of Python ints; a lone integer stands for a tuple of one.

    Raises:
        TypeError: names the function ``name`` and its ``argument``.
    """
    try:
        return tuple(map(index, values))
    except TracedValueError:
        raise
    except TypeError:
        if hasattr(values, "__index__") and not np.ndim(values):
            return (index(values),)
        raise TypeError(
            f"lax.{name}: {argument} must be a sequence of integers, got {values!r}{place()}."
        ) from None


def axis_in(name: str, argument: str, axis: Any, ndim: int) -> int:
    """``axis`` counted from the front.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is out of bounds.
    """
    if axis.__class__ is not int:
        try:
            axis = index(axis)
        except TracedValueError:
            raise
        except TypeError:
            raise TypeError(
                f"lax.{name}: {argument} must be an integer, got {axis!r}{place()}."
            ) from None
    if -ndim <= axis < ndim:
        return axis + ndim if axis < 0 else axis
    raise OutOfBounds(
        f"lax.{name}: {argument} {axis} is out of bounds for an array with {ndim} axes{place()}. "
        f"It must be at least {-ndim} and less than {ndim}."
    )


def axes_in(name: str, argument: str, axes: Any, ndim: int) -> Shape:
    """Several axes counted from the front (see :func:`axis_in`)."""
    result = ints(name, argument, axes)
    if result and (min(result) < 0 or max(result) >= ndim):
        return tuple([axis_in(name, argument, a, ndim) for a in result])
    return result
