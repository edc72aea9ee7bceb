"""Changing element types, by value and by bits."""

from __future__ import annotations

from typing import Any

from dovetail_core import get_trace, here

from ..dtypes import as_dtype, dtype_of
from ..narrowing import warn_imaginary
from ..primitives.values import bitcast_convert_type_p, convert_element_type_p
from ._args import Array, ArrayLike, check


def convert_element_type(operand: ArrayLike, new_dtype: Any) -> Array:
    """``operand`` with elements of type ``new_dtype``, not weakly typed.

    Floating-point numbers are truncated to integers, and what is out of range saturates; integers
    wrap around; complex numbers lose their imaginary part, with a warning.

    Raises:
        ValueError: ``new_dtype`` is None.
        TypeError: ``operand`` is a Python complex number, and ``new_dtype`` one of real numbers.
    """
    if new_dtype is None:
        raise ValueError("lax.convert_element_type needs a dtype, got None")
    wanted = as_dtype(new_dtype)
    keep_imaginary("convert_element_type", operand, wanted)
    return convert(operand, wanted, False)


def keep_imaginary(name: str, operand: ArrayLike, dtype: Any) -> None:
    """Warn of an array's imaginary parts that are lost in ``dtype``.

    Raises:
        TypeError: ``operand`` is a Python complex number, and ``dtype`` one of real numbers.
    """
    if operand.__class__ is complex and dtype.kind not in "cb":
        raise TypeError(
            f"lax.{name}: {operand} is no number of dtype {dtype}{here()}. Pass its real part."
        )
    warn_imaginary(getattr(operand, "dtype", dtype), dtype)


def convert(operand: ArrayLike, dtype: Any, weak_type: bool) -> Array:
    """``operand`` as type ``dtype`` (canonical), weak or not; itself if it has that type."""
    aval = check("convert_element_type", operand)
    if aval.dtype == dtype and aval.weak_type == weak_type and hasattr(operand, "aval"):
        return operand
    params = {"new_dtype": dtype, "weak_type": weak_type}
    return get_trace().process(convert_element_type_p, (operand,), params)


def bitcast_convert_type(operand: ArrayLike, new_dtype: Any) -> Array:
    """The bits of ``operand`` read as ``new_dtype``.

    To a narrower type the result has one more axis, from a wider one it has one less; bits of
    lower significance come first. Not for booleans and complex numbers.
    """
    check("bitcast_convert_type", operand)
    return bitcast_convert_type_p.bind(operand, new_dtype=as_dtype(new_dtype))


def dtype(x: Any) -> Any:
    """The element type of an array or scalar, or that which a dtype-like value names."""
    return dtype_of(x)
