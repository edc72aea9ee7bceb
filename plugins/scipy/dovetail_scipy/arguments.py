"""Arguments of public functions: arrays, and the element type in which they meet."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.source import called, short_repr
from dovetail_core import canonical_dtype, here, is_inexact
from dovetail_lax import dtypes
from dovetail_numpy import operands, promotion

Array = Any
ArrayLike = Any


def array(name: str, x: ArrayLike, position: int = 0) -> Array:
    """``x`` as an array or tracer.

    Raises:
        TypeError: it is no array and no number; names the function and the position.
    """
    return dnp.asarray(operands.operand(name, x, position))


def inexact(name: str, *xs: ArrayLike) -> list[Array]:
    """Arguments as arrays of their common type, integers in floating point; shapes as they are.

    Raises:
        TypeError: one is no array and no number.
    """
    return [dnp.asarray(v) for v in promotion.promote(name, *xs, inexact=True)]


def arrays(name: str, *args: ArrayLike) -> list[Any]:
    """Arguments as arrays or tracers.

    Raises:
        TypeError: one is no array and no number.
    """
    result: list[Any] = []
    for i, x in enumerate(args):
        if x is None or isinstance(x, (str, bytes, dict, set)):
            raise TypeError(
                f"{name} takes arrays, got {short_repr(x)} at position {i}{called()}. Convert it "
                "with dovetail.numpy.asarray."
            )
        result.append(x if hasattr(x, "aval") else dnp.asarray(x))
    return result


def inexact_arrays(name: str, *args: ArrayLike) -> list[Any]:
    """Arguments as arrays of one floating-point or complex type, to which they are promoted.

    Raises:
        TypeError: one is no array and no number.
    """
    result = arrays(name, *args)
    dtype = dtypes.result_type(*result)
    if not is_inexact(dtype):
        dtype = canonical_dtype("float64" if dtype.itemsize == 8 else "float32")
    return [lax.convert_element_type(x, dtype) for x in result]


def one_of(name: str, what: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """An option.

    Raises:
        ValueError: it is none of those allowed.
    """
    if not any(value.__class__ is a.__class__ and value == a for a in allowed):
        raise ValueError(
            f"{name}: {what} must be one of {', '.join(map(repr, allowed))}, got "
            f"{short_repr(value)}{here()}"
        )
    return value
