"""Python scalars beside arrays: they take the array's element type where no kind is lost."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base.errors import integer_too_large
from dovetail_core import Cache, cached, canonical_dtype
from dovetail_xla.config import enable_x64_state

from .dtypes import kind_of, scalar_dtype

_ORDER = {
    "extended": -1, "other": -1, "bool": 0, "signed": 1, "unsigned": 1, "floating": 2, "complex": 3,
}  # fmt: skip
_RANK = {int: 1, float: 2, complex: 3}
_INEXACT = {"floating": float, "complex": complex}
PYTHON_SCALARS = frozenset([bool, int, float, complex])
FLOATS = {False: np.dtype(np.float32), True: np.dtype(np.float64)}
"""The element type of a Python float, by whether 64-bit types are enabled."""

_constants: Cache[tuple[Any, ...], Any] = Cache()


def has_own_type(cls: type, dtype: Any) -> bool:
    """True if a Python scalar of class ``cls`` has by itself the element type ``dtype``."""
    return _has_own_type(cls, dtype, enable_x64_state.value)


@cached
def _has_own_type(cls: type, dtype: Any, wide: bool) -> bool:
    return scalar_dtype(cls) == dtype


def cast_scalar(value: Any, dtype: Any) -> Any:
    """``value`` as a NumPy scalar of type ``dtype``; integers wrap around as arrays' do.

    Of a 64-bit type where these are not enabled it is an array, which is not narrowed.
    """
    try:
        result = dtype.type(value)
    except OverflowError:
        result = np.asarray(value).astype(dtype)[()]
    return result if dtype.itemsize < 8 or enable_x64_state.value else _wide(result, dtype)


def _wide(value: Any, dtype: Any) -> Any:
    from .primitives.values import bitcast_convert_type_p, complex_p

    if canonical_dtype(dtype) == dtype:  # complex64
        return value
    if kind_of(dtype) == "complex":
        real = np.dtype(np.float64)
        return complex_p.bind(_wide(value.real, real), _wide(value.imag, real))
    words = np.frombuffer(value.tobytes(), np.uint32)
    return bitcast_convert_type_p.bind(words, new_dtype=dtype)


def check_int(value: int) -> None:
    """Raise if a Python integer does not fit into the type that it has by itself.

    Raises:
        OverflowError: names the integer, its type and the remedy.
    """
    bits = scalar_dtype(int).itemsize * 8 - 1
    if not -(1 << bits) <= value < 1 << bits:
        raise integer_too_large(value, scalar_dtype(int))


def integer_as(value: int, dtype: Any) -> Any:
    """A Python integer that becomes one of type ``dtype``: itself, if it fits into its own type.

    Else a NumPy scalar of ``dtype``: infinite beyond floating-point numbers, and of integer types
    what its last bits make, if it has no more than 64. Others stay Python's.
    """
    if _INT32_MIN <= value <= _INT32_MAX:
        return value
    kind = kind_of(dtype)
    if kind in ("floating", "complex"):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf if value > 0 else -np.inf
        with np.errstate(over="ignore"):
            return np.asarray(number).astype(dtype)[()]
    if kind == "bool":
        return np.bool_(True)
    if kind not in ("signed", "unsigned") or not -(1 << 63) <= value < 1 << 64:
        return value
    return np.asarray(value & 0xFFFFFFFFFFFFFFFF, np.uint64).astype(dtype)[()]


_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1


def adapt(value: Any, dtype: Any) -> Any:
    """A Python scalar as an operand beside an array of type ``dtype``.

    It stays as it is where its own type is ``dtype``, or where taking that type would lose its
    kind (a float beside integers): then the type rule reports the mismatch.
    """
    cls = value.__class__
    if cls is int:
        check_int(value)
    if has_own_type(cls, dtype) or _ORDER[kind_of(dtype)] < _RANK.get(cls, 4):
        return value
    return cast_scalar(value, dtype)


def scalar(value: float, dtype: Any) -> Any:
    """The constant ``value`` for use beside operands of element type ``dtype``, in a rule."""
    key = (value, dtype, enable_x64_state.value)
    result = _constants.get(key)
    if result is None:
        cls = _INEXACT.get(kind_of(dtype))
        own = cls is not None and has_own_type(cls, dtype)
        result = cls(value) if cls is not None and own else cast_scalar(value, dtype)
        if not hasattr(result, "aval"):
            _constants[key] = result
    return result
