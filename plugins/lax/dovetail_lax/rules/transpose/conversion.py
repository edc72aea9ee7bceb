"""Transposition of changes of element type."""

from __future__ import annotations

from typing import Any

from ...dtypes import kind_of
from ...primitives.complex import real_p
from ...primitives.conversion import convert_element_type_p
from .kinds import unary


def _convert(ct: Any, x: Any, **params: Any) -> Any:
    """The cotangent in the operand's type.

    Under the pairing ``Re(ct * t)`` a conversion to complex transposes to taking the real part, and
    one from complex to a conversion to complex.
    """
    want = x.aval
    if kind_of(ct.dtype) == "complex" != kind_of(want.dtype):
        ct = real_p.bind(ct)
    if ct.dtype == want.dtype:
        return ct
    return convert_element_type_p.bind(ct, new_dtype=want.dtype, weak_type=False)


unary(convert_element_type_p, _convert)
