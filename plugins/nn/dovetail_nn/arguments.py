"""Arguments of public functions: arrays, their promotion, and axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.arguments import array_of
from dovetail_base.source import called, short_repr
from dovetail_core import here, is_inexact
from dovetail_lax import dtypes
from dovetail_lax.errors import ElementTypeError


def array(name: str, x: Any) -> Any:
    """``x`` as an array or tracer.

    Raises:
        TypeError: it is no array and no number.
    """
    if hasattr(x, "aval"):
        return x
    x = array_of(x)
    if hasattr(x, "aval") or isinstance(x, (bool, int, float, complex, np.ndarray, np.generic)):
        return dnp.asarray(x)
    return _refuse(name, x)


def _refuse(name: str, x: Any) -> NoReturn:
    shown = short_repr(x)
    raise TypeError(
        f"{name} takes an array or a number, got {shown} of type {type(x).__name__}{called()}. "
        "Convert it with dovetail.numpy.asarray."
    )


def mask(name: str, where: Any) -> Any:
    """``where`` as an array or tracer of booleans.

    Raises:
        TypeError: it is of numbers.
    """
    x = array(name, where)
    if x.dtype.kind != "b":
        raise ElementTypeError(
            f"{name}: where must be an array of booleans, got dtype {x.dtype}{here()}"
        )
    return x


def inexact(name: str, x: Any, weak: bool = False) -> Any:
    """``x`` as an array or tracer of floating-point or complex numbers; integers are converted.

    ``weak`` is True if they become weakly typed, as in an operation with a Python float.

    Raises:
        TypeError: it is no array and no number.
    """
    aval = getattr(x, "aval", None)
    if aval is None:
        x = array(name, x)
        aval = x.aval
    if is_inexact(aval.dtype):
        return x
    return lax.convert_element_type_p.bind(x, new_dtype=dtypes.as_dtype(float), weak_type=weak)


def with_number(name: str, x: Any) -> Any:
    """:func:`inexact` for an operation with a Python number: weakly typed values stay weak.

    Raises:
        TypeError: it is no array and no number.
    """
    x = array(name, x)
    return inexact(name, x, weak=x.aval.weak_type or x.aval.dtype.kind == "b")


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """An axis argument (None for all, an integer, or several) as numbers from 0, ascending.

    Raises:
        ValueError: an axis is out of bounds or given twice.
    """
    if axis.__class__ is int and -ndim <= axis < ndim:
        return (axis + ndim if axis < 0 else axis,)
    if axis is None:
        return tuple(range(ndim))
    result = tuple(
        arguments.integer(f"{name}: axis", a)
        for a in (axis if isinstance(axis, Iterable) else (axis,))
    )
    axes = sorted({arguments.axis_of(name, a, ndim) for a in result})
    if len(axes) != len(result):
        raise ValueError(f"{name}: duplicate axis in {result}{here()}")
    return tuple(axes)
