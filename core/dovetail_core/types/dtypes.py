"""Element types: those of NumPy and ml_dtypes, extended ones of plugins, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from dovetail_base.caches import cached
from dovetail_base.source import called, short_repr
from dovetail_xla.config import enable_x64_state

DType = np.dtype[Any]


class ExtendedDType:
    """Base of element types that NumPy lacks (for example a random key's); identity is equality.

    An array of such elements is made of arrays of numbers of its own shape, of the element types
    ``low``, and operations that move elements are applied to each of them. A type without ``low``
    serves typing alone: no program that has it can be compiled.
    """

    __slots__ = ()
    is_interned = True
    name: ClassVar[str] = "extended"
    itemsize: ClassVar[int] = 0
    kind: ClassVar[str] = "X"
    """A letter that is no kind of NumPy's element types; so is ``char``."""
    char: ClassVar[str] = "X"
    low: tuple[DType, ...] = ()
    remedy: ClassVar[str] = "Convert it first."
    """The remedy in errors about such elements given in place of numbers."""

    def arrays_of(self, value: Any) -> Sequence[Any]:
        """The arrays that ``value`` is made of, of the element types ``low``."""
        raise NotImplementedError(f"{type(self).__name__} has no arrays: define arrays_of")

    def value_of(self, arrays: Sequence[Any]) -> Any:
        """The value that is made of ``arrays`` (concrete or traced ones)."""
        raise NotImplementedError(f"{type(self).__name__} has no arrays: define value_of")

    @property
    def tangent(self) -> Any:
        """The element type of tangents; None where such elements have none."""
        return None

    def converts_from(self, dtype: Any) -> bool:
        """Return whether numbers of type ``dtype`` can be converted to such elements."""
        return False

    def converts_to(self, dtype: Any) -> bool:
        """Return whether such elements can be converted to numbers of type ``dtype``."""
        return False

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """The zero of tangents of this type; None if all its arrays are zero."""
        return None

    def add(self, x: Any, y: Any) -> Any:
        """The sum of two tangents of this type."""
        raise NotImplementedError(f"{type(self).__name__} has no sums: define add")


float0: DType = np.dtype([("float0", np.void, 0)])
"""The dtype of tangents of integer and boolean values: it holds nothing."""


_SHORT = {"float": "f", "bfloat": "bf", "complex": "c", "uint": "u", "int": "i"}


def short_dtype(dtype: Any) -> str:
    """``float32`` as ``f32`` and so on; ``bool`` and unusual types keep their names."""
    if dtype == float0:
        return "float0"
    name: str = dtype.name
    stem = name.rstrip("0123456789")
    return _SHORT[stem] + name[len(stem) :] if stem in _SHORT and stem != name else name


@cached
def is_inexact(dtype: Any) -> bool:
    """Return whether ``dtype`` is a floating-point or complex type (also ml_dtypes' floats)."""
    return not isinstance(dtype, ExtendedDType) and dtype != float0 and _is_float(dtype)


def _is_float(dtype: Any) -> bool:
    if np.issubdtype(dtype, np.inexact):
        return True
    try:
        ml_dtypes.finfo(dtype)
    except ValueError:
        return False
    return True


_NARROW: dict[DType, DType] = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


def needs_x64(dtype: Any) -> bool:
    """Return whether arrays have this element type only if ``enable_x64`` is on."""
    return dtype in _NARROW


def canonical_dtype(dtype: Any) -> DType:
    """``dtype`` in the form that arrays have: in the machine's byte order, and with 64-bit types
    narrowed to 32 bits unless ``enable_x64`` is on."""
    if isinstance(dtype, ExtendedDType):
        return dtype  # type: ignore[return-value]
    dt = dtype_named(dtype)
    if not dt.isnative:
        dt = dt.newbyteorder("=")
    return dt if enable_x64_state.value else _NARROW.get(dt, dt)


class NotDtype(TypeError, ValueError):
    """An array was given in place of its dtype."""


def dtype_named(dtype: Any) -> np.dtype[Any]:
    """``np.dtype(dtype)``.

    Raises:
        TypeError: it names no dtype. NotDtype: it is an array, which has one.
    """
    is_array = hasattr(dtype, "aval")
    try:
        if is_array:
            raise TypeError
        return np.dtype(dtype)
    except Exception:
        raise (NotDtype if is_array else TypeError)(
            f"dtype must be an element type, its name or a scalar type, got {short_repr(dtype)} of "
            f"type {type(dtype).__name__}{called()}. Give for example 'float32', or the .dtype "
            "of an array."
        ) from None


def is_number(dtype: Any) -> bool:
    """Return whether a dtype of NumPy's kind V is one of ml_dtypes' numbers, or float0."""
    return dtype == float0 or (dtype.fields is None and dtype.type is not np.void)
