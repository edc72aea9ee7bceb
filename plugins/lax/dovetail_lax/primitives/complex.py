"""Primitives that take complex numbers apart and put them together."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Primitive

from ._elementwise import COMPLEX, INEXACT, elementwise

_PARTS = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype("f8")}
_WHOLES = {part: whole for whole, part in _PARTS.items()}


def real_part(dtype: Any) -> Any:
    """The element type of the real and imaginary parts; a type that is not complex is its own."""
    return _PARTS.get(dtype, dtype)


def complex_of(dtype: Any) -> Any:
    """The complex type whose parts are of type ``dtype``; of a complex type, itself.

    Raises:
        TypeError: there is none.
    """
    if dtype not in _WHOLES and dtype not in _PARTS:
        raise TypeError(
            f"no complex dtype has parts of dtype {dtype}: only float32 and float64 can be parts"
        )
    return _WHOLES.get(dtype, dtype)


real_p = elementwise(Primitive("real"), COMPLEX, result=real_part)
imag_p = elementwise(Primitive("imag"), COMPLEX, result=real_part)
complex_p = elementwise(Primitive("complex"), ("floating",), result=complex_of)
conj_p = elementwise(Primitive("conj"), INEXACT, result=complex_of)
