"""Transposition of changes of element type."""

from __future__ import annotations

from typing import Any

from dovetail_core import typeof

from ...dtypes import kind_of
from ...primitives.complex import complex_of, complex_p, real_p
from ...primitives.conversion import convert_element_type_p
from ...scalars import scalar
from .kinds import unary


def _convert(ct: Any, x: Any, **params: Any) -> Any:
    """The cotangent in the operand's type.

    Under the pairing ``Re(ct * t)`` a conversion to complex transposes to taking the real part, and
    one from complex to the other direction.
    """
    want = x.aval
    source, target = kind_of(want.dtype) == "complex", kind_of(ct.dtype) == "complex"
    if target and not source:
        ct = real_p.bind(ct)
    elif source and not target and complex_of(ct.dtype) == want.dtype:
        return complex_p.bind(ct, scalar(0.0, ct.dtype))
    if typeof(ct) is want.update(shape=ct.shape):
        return ct
    return convert_element_type_p.bind(ct, new_dtype=want.dtype, weak_type=want.weak_type)


unary(convert_element_type_p, _convert)
