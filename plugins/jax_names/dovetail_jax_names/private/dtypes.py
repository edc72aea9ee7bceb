"""``jax._src.dtypes``. flax (``linen.fp8_ops``): ``DType``, ``ExtendedDType``, ``extended``,
``finfo``, ``supports_inf``; equinox: ``TypePromotionError``; tinygp: ``to_complex_dtype``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_core import ExtendedDType as _ExtendedDType, Tracer, float0, high_algebra
from dovetail_lax import broadcast as _broadcast, dtypes as _dtypes

from ..absent_names import public
from .earray import EArray

TypePromotionError = _dtypes.TypePromotionError
extended = _dtypes.extended
finfo = _dtypes.finfo

DType = np.dtype
_WITHOUT_INF = frozenset(
    np.dtype(getattr(ml_dtypes, name))
    for name in (
        "float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu "
        "float4_e2m1fn"
    ).split()
)


def supports_inf(dtype: Any) -> bool:
    """True if an element type has infinities."""
    return np.dtype(dtype) not in _WITHOUT_INF


def to_complex_dtype(dtype: Any) -> Any:
    """The complex type whose parts hold numbers of a type: of 64 bits those of such, else of 32."""
    dtype = np.dtype(dtype)
    wide = dtype.itemsize >= (16 if dtype.kind == "c" else 8)
    return np.dtype(np.complex128 if wide else np.complex64)


class ExtendedDType(_ExtendedDType):
    """Base of element types that a library defines by rules, as ``_rules`` and ``type`` say.

    An array of such elements is made of one array of numbers, of the type that
    ``_rules.physical_element_aval(dtype)`` names.
    """

    _rules: Any
    type: Any

    @property
    def low(self) -> tuple[np.dtype[Any], ...]:  # type: ignore[override]
        """The types of the arrays that an array of such elements is made of."""
        return (np.dtype(self._rules.physical_element_aval(self).dtype),)

    def arrays_of(self, value: EArray) -> Sequence[Any]:
        """The array of numbers of a value."""
        return high_algebra().take(value) if isinstance(value, Tracer) else [value._data]

    def value_of(self, arrays: Sequence[Any]) -> EArray:
        """The value of an array of numbers."""
        return EArray.of(self, arrays[0])

    @property
    def tangent(self) -> Any:
        """The element type of tangents, by ``tangent_dtype``; None for those that hold nothing."""
        result = self._rules.tangent_dtype(self)
        return None if result == float0 else result

    def converts_from(self, dtype: Any) -> bool:
        """By the rule ``convert_to``, of the type that is left and of the one that is made."""
        return bool(self._rules.convert_to(dtype, self))

    def converts_to(self, dtype: Any) -> bool:
        """By the rule ``convert_from``, of the same two."""
        return bool(self._rules.convert_from(self, dtype))

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """The result of ``zero``, repeated."""
        return _broadcast(self._rules.zero(self), shape)

    def add(self, x: Any, y: Any) -> Any:
        """The sum of tangents, by the rule of that name."""
        return self._rules.add(self, x, y)


def __getattr__(name: str) -> Any:
    return public("jax._src.dtypes", name)
