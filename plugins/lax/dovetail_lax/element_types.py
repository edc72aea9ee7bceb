"""Element types: kinds, widths, subtypes, and 64-bit types where these are not enabled."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np

from dovetail_base.foreign import reword_errors
from dovetail_base.source import called, short_repr, warn_here
from dovetail_core import (
    ExtendedDType,
    Option,
    cached,
    canonical_dtype,
    config,
    dtype_named,
    float0,
    here,
    typeof,
)


def _check_explicit(value: Any) -> Any:
    name = getattr(value, "name", value)  # of an enumeration
    known = {"warn": "warn", "error": "error", "allow": "allow"}
    result = known.get(name.lower()) if isinstance(name, str) else None
    if result is None:
        raise ValueError(f"explicit_x64_dtypes is 'warn', 'error' or 'allow', not {value!r}")
    return result


explicit_x64_dtypes = config.add(
    Option(
        "explicit_x64_dtypes",
        "warn",
        "What happens where a 64-bit dtype is asked for by its name while 64-bit types are not "
        "enabled: 'warn' (it is one of 32 bits), 'error', or 'allow' (it is as asked for).",
        check=_check_explicit,
        traced=True,
    )
)


def explicit(wanted: Any, narrow: Any) -> Any:
    """The dtype used for a requested 64-bit one: ``narrow`` by default, with a warning.

    Raises:
        ValueError: the option ``explicit_x64_dtypes`` forbids it.
    """
    choice = explicit_x64_dtypes.value
    if choice == "allow":
        return wanted
    if choice == "error":
        raise ValueError(
            f"dtype {wanted} was asked for{here()}, but 64-bit types are not enabled (option "
            f"explicit_x64_dtypes). Enable them (dovetail.enable_x64), or ask for {narrow}."
        )
    warn_truncated(wanted, narrow)
    return narrow


def warn_truncated(wanted: Any, result: Any) -> None:
    """Warn that ``result`` is used for the 64-bit dtype that was requested."""
    warn_here(
        f"dtype {wanted} was asked for{here()}, but without 64-bit "
        f"types it is {result}. Enable them (dovetail.enable_x64), or ask for {result}.",
        UserWarning,
    )


class ImaginaryPartLost(np.exceptions.ComplexWarning, DeprecationWarning):
    """A conversion of complex numbers that will be refused."""


def warn_imaginary(
    source: Any, target: Any, category: type[Warning] = np.exceptions.ComplexWarning
) -> None:
    """Warn if a conversion between these dtypes drops imaginary parts.

    A conversion to booleans does not: it is true where either part is not zero.
    """
    if source.kind != "c" or target.kind in "cb":
        return
    warn_here(
        f"a conversion from {source} to {target} discards the imaginary parts"
        f"{here()}. Take x.real or abs(x) first.",
        category,
    )


DType = np.dtype[Any]
WEAK = {"i*": np.dtype(np.int64), "f*": np.dtype(np.float64), "c*": np.dtype(np.complex128)}
"""The element types of the weak types of Python's int, float and complex."""
FP8 = tuple(
    np.dtype(getattr(ml_dtypes, n))
    for n in (
        "float8_e3m4 float8_e4m3 float8_e8m0fnu float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz "
        "float8_e5m2 float8_e5m2fnuz"
    ).split()
)
FP4 = (np.dtype(ml_dtypes.float4_e2m1fn),)
SMALL_INTS = tuple(np.dtype(getattr(ml_dtypes, n)) for n in "int2 uint2 int4 uint4".split())
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


class _Limits(type):
    """The class of classes whose instances are what their bases make, of NumPy's classes, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return any(isinstance(instance, base) for base in cls.__mro__[1:-1])

    def __subclasscheck__(cls, subclass: type) -> bool:
        return any(issubclass(subclass, base) for base in cls.__mro__[1:-1])


class finfo(ml_dtypes.finfo, metaclass=_Limits):  # lower case, as in NumPy
    """The limits of a floating-point dtype."""

    @reword_errors
    def __new__(cls, dtype: Any) -> Any:
        return ml_dtypes.finfo(dtype)


class iinfo(ml_dtypes.iinfo, metaclass=_Limits):  # lower case, as in NumPy
    """The limits of an integer dtype."""

    @reword_errors
    def __new__(cls, int_type: Any) -> Any:
        return ml_dtypes.iinfo(int_type)


class extended(np.generic):  # lower case: a scalar type, spelled like NumPy's
    """Scalar type of element types that NumPy lacks; ``issubdtype(x.dtype, extended)``."""


class prng_key(extended):
    """Scalar type of random keys; ``issubdtype(key.dtype, prng_key)``."""


@cached
def kind_of(dtype: Any) -> str:
    """``bool``, ``signed``, ``unsigned``, ``floating``, ``complex``, ``extended`` or ``other``."""
    if isinstance(dtype, ExtendedDType):
        return "extended"
    names = {"b": "bool", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex"}
    if dtype.kind in "fc" and dtype.char in "gG":  # more than 64 bits per number
        return "other"
    if dtype.kind in names and dtype != float0:
        return names[dtype.kind]
    if dtype == BFLOAT16 or dtype in FP8 or dtype in FP4:
        return "floating"
    if dtype in SMALL_INTS:
        return "unsigned" if dtype.name.startswith("u") else "signed"
    return "other"


_SCALAR_TYPES: dict[str, type] = {
    "bool": bool, "signed": int, "unsigned": int, "floating": float, "complex": complex,
}  # fmt: skip
_ABSTRACT: dict[str, type] = {
    "bool": np.bool_, "signed": np.signedinteger, "unsigned": np.unsignedinteger,
    "floating": np.floating, "complex": np.complexfloating,
}  # fmt: skip
_PYTHON: dict[Any, DType] = {
    bool: np.dtype(np.bool_), int: WEAK["i*"], float: WEAK["f*"], complex: WEAK["c*"],
}  # fmt: skip


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """``dtype`` as arrays hold it: 64-bit types narrow to 32 bits unless ``enable_x64`` is on.

    Raises:
        ValueError: an extended dtype (a random key's), unless ``allow_extended_dtype``.
    """
    if isinstance(dtype, ExtendedDType) and not allow_extended_dtype:
        raise ValueError(f"canonicalize_dtype got the extended dtype {dtype}")
    return canonical_dtype(dtype)


def scalar_dtype(cls: type) -> DType:
    """The element type that a Python scalar of class ``cls`` has by itself."""
    return canonical_dtype(_PYTHON[cls])


def as_dtype(dtype: Any) -> Any:
    """The canonical dtype of what a user passes: a dtype, a name, a scalar type or a Python type.

    Warns if it has 64 bits and such types are not enabled; Python's types mean the default ones.

    Raises:
        TypeError: arrays cannot have it.
    """
    if isinstance(dtype, ExtendedDType):
        return dtype
    result = dtype_named(dtype)
    canonical = _canonical(result)
    if canonical.itemsize != result.itemsize and dtype not in _PYTHON:
        return explicit(result.newbyteorder("="), canonical)
    return canonical


def _canonical(dtype: Any) -> Any:
    if kind_of(dtype) == "other" and dtype != float0:
        raise TypeError(
            f"arrays of dtype {dtype} are not supported{called()}: only numbers and booleans are"
        )
    return canonical_dtype(dtype)


def dtype_of(x: Any) -> Any:
    """The element type of an array, scalar or tracer; of a dtype, itself, canonical."""
    if isinstance(x, (np.dtype, type, str)):
        return _canonical(dtype_named(x))
    if isinstance(x, ExtendedDType):
        return x
    return cast(Any, typeof(x)).dtype


def is_weakly_typed(x: Any) -> bool:
    """True if the element type of ``x`` yields to those of others, as a Python scalar's does."""
    return bool(getattr(typeof(x), "weak_type", False))


def issubdtype(a: Any, b: Any) -> bool:
    """Like ``numpy.issubdtype``, and knows ml_dtypes' numbers and extended dtypes.

    For example ``issubdtype(bfloat16, numpy.floating)`` is true.
    """
    if isinstance(b, type) and issubclass(b, extended):
        kind = _extended_type(a) if isinstance(a, ExtendedDType) else a
        return isinstance(kind, type) and issubclass(kind, b)
    if isinstance(a, ExtendedDType) or isinstance(b, ExtendedDType):
        return a is b or b is np.generic
    if isinstance(a, type) and issubclass(a, np.generic) and a not in _concrete():
        return isinstance(b, type) and issubclass(a, b)
    kind = kind_of(_numpy_dtype(a))
    if kind == "other":
        return np.issubdtype(a, b)
    if isinstance(b, type) and issubclass(b, np.generic) and b not in _concrete():
        return issubclass(_ABSTRACT[kind], b)
    return np.dtype(a) == _numpy_dtype(b)


def _numpy_dtype(x: Any) -> np.dtype[Any]:
    try:
        return np.dtype(x)
    except (TypeError, ValueError):
        raise TypeError(
            f"issubdtype takes dtypes and scalar types, got {short_repr(x)}{here()}"
        ) from None


def _extended_type(dtype: ExtendedDType) -> type:
    return getattr(dtype, "type", extended)


@cached
def _concrete() -> frozenset[type]:
    custom = {d.type for d in (BFLOAT16, *FP8, *FP4, *SMALL_INTS)}
    return frozenset({*np.sctypeDict.values()} | custom)


def itemsize_bits(dtype: Any) -> int:
    """The width of one element in bits; booleans have 8, packed types their own."""
    result = None if dtype is None else dtype_named(dtype)
    if result is None or kind_of(result) == "other":
        raise ValueError(f"itemsize_bits: elements of {short_repr(dtype)} have no size{here()}")
    if result in SMALL_INTS:
        return iinfo(result).bits
    return finfo(result).bits if result in FP4 else result.itemsize * 8


def scalar_type_of(x: Any) -> type:
    """The Python type of elements of ``x``: bool, int, float or complex.

    Raises:
        TypeError: ``x`` is not an array of numbers.
    """
    kind = kind_of(dtype_of(x))
    if kind in ("extended", "other"):
        raise TypeError(f"{x!r} is not an array of numbers")
    return _SCALAR_TYPES[kind]
