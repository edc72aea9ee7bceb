"""Element types: JAX's type promotion with weak types, and questions about dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import ml_dtypes
import numpy as np

from dovetail_core import (
    ExtendedDType,
    Option,
    ShapedArray,
    canonical_dtype,
    config,
    enable_x64,
    float0 as float0,
    typeof,
)

from .promotion import BFLOAT16, FP4, FP8, SMALL_INTS, WEAK, join, node

DType = np.dtype[Any]
bfloat16 = ml_dtypes.bfloat16
finfo = ml_dtypes.finfo
iinfo = ml_dtypes.iinfo


class TypePromotionError(ValueError):
    """Operands' element types have no common type that both may implicitly become."""


class extended(np.generic):  # lower case: a scalar type, spelled like NumPy's  # noqa: N801
    """Scalar type of element types that NumPy lacks; ``issubdtype(x.dtype, extended)``."""


class prng_key(extended):  # noqa: N801
    """Scalar type of random keys; ``issubdtype(key.dtype, prng_key)``."""


def _check_promotion(value: str) -> str:
    if value not in ("standard", "strict"):
        raise ValueError(f"numpy_dtype_promotion is 'standard' or 'strict', not {value!r}")
    return value


numpy_dtype_promotion = config.add(
    Option(
        "numpy_dtype_promotion",
        "standard",
        "Whether arrays of different element types may meet ('standard'), or only an array and a "
        "Python scalar ('strict').",
        check=_check_promotion,
        traced=True,
    )
)
_promotion = numpy_dtype_promotion.state


@cache
def kind_of(dtype: Any) -> str:
    """``bool``, ``signed``, ``unsigned``, ``floating``, ``complex``, or ``other`` for the rest."""
    if isinstance(dtype, ExtendedDType):
        return "other"
    names = {"b": "bool", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex"}
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
    """A dtype that a user gave (a dtype, a name, a scalar type, a Python type), canonical.

    Raises:
        TypeError: arrays cannot have it.
    """
    if isinstance(dtype, ExtendedDType):
        return dtype
    if kind_of(found := np.dtype(dtype)) == "other" and found != float0:
        raise TypeError(f"arrays of dtype {found} are not supported: only numbers and booleans are")
    return canonical_dtype(found)


def dtype_of(x: Any) -> Any:
    """The element type of an array, scalar or tracer; of a dtype, itself."""
    if isinstance(x, (np.dtype, type, str, ExtendedDType)):
        return as_dtype(x)
    return cast(Any, typeof(x)).dtype


def is_weakly_typed(x: Any) -> bool:
    """Whether the element type of ``x`` yields to that of others (Python scalars' does)."""
    return bool(getattr(typeof(x), "weak_type", False))


def issubdtype(a: Any, b: Any) -> bool:
    """Like ``numpy.issubdtype``, and knows ml_dtypes' numbers and extended dtypes.

    For example ``issubdtype(bfloat16, numpy.floating)`` is true.
    """
    if isinstance(b, type) and issubclass(b, extended):
        return isinstance(a, ExtendedDType) and issubclass(_extended_type(a), b)
    if isinstance(a, ExtendedDType) or isinstance(b, ExtendedDType):
        return a is b or b is np.generic
    if isinstance(a, type) and issubclass(a, np.generic) and a not in _concrete():
        return isinstance(b, type) and issubclass(a, b)
    kind = kind_of(np.dtype(a))
    if kind == "other":
        return np.issubdtype(a, b)
    if isinstance(b, type) and issubclass(b, np.generic) and b not in _concrete():
        return issubclass(_ABSTRACT[kind], b)
    return np.dtype(a) == np.dtype(b)


def _extended_type(dtype: ExtendedDType) -> type:
    return getattr(dtype, "type", extended)


@cache
def _concrete() -> frozenset[type]:
    return frozenset({*np.sctypeDict.values()} | {d.type for d in (BFLOAT16, *FP8, *FP4, *SMALL_INTS)})


def itemsize_bits(dtype: Any) -> int:
    """The width of one element in bits; booleans have 8, packed types their own."""
    found = np.dtype(dtype)
    if found in SMALL_INTS:
        return iinfo(found).bits
    return finfo(found).bits if found in FP4 else found.itemsize * 8


def scalar_type_of(x: Any) -> type:
    """The Python type that stands for elements of ``x``: bool, int, float or complex.

    Raises:
        TypeError: ``x`` is not an array of numbers.
    """
    kind = kind_of(dtype_of(x))
    if kind == "other":
        raise TypeError(f"{x!r} is not an array of numbers")
    return _SCALAR_TYPES[kind]


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The common element type of arrays, scalars and dtypes; also whether it is weak, if asked.

    Raises:
        TypePromotionError: there is none; names the types and says what to do.
        ValueError: no argument is given.
    """
    if not args:
        raise ValueError("result_type takes at least one array, scalar or dtype")
    found = common_type([_typed(x) for x in args])
    return found if return_weak_type_flag else found[0]


def _typed(x: Any) -> tuple[DType, bool]:
    if isinstance(x, (np.dtype, type, str, ExtendedDType)):
        return as_dtype(x), _is_weak_class(x)
    aval = cast(ShapedArray, typeof(x))
    return aval.dtype, aval.weak_type


def _is_weak_class(x: Any) -> bool:
    return isinstance(x, type) and x in (int, float, complex)


def promote_types(a: Any, b: Any) -> DType:
    """The common element type of two dtypes, of which Python's ``int``, ``float``, ``complex`` yield.

    It is not made canonical: ``promote_types(float, int)`` is ``float64`` whatever ``enable_x64``.

    Raises:
        TypePromotionError: there is none.
    """
    types = [(x if isinstance(x, ExtendedDType) else np.dtype(x), _is_weak_class(x)) for x in (a, b)]
    dtype, _ = _common(tuple(types), False)
    if dtype == np.int64 and not enable_x64.value and all(t != dtype for t, _ in types):
        return np.dtype(np.int32)  # of uint32 and a narrower signed type
    return dtype


def common_type(types: Sequence[tuple[Any, bool]]) -> tuple[DType, bool]:
    """The common type of ``(dtype, weak)`` pairs, and whether it is weak.

    Raises:
        TypePromotionError: there is none.
    """
    dtype, weak = _common(tuple(types), _promotion.value == "strict")
    return canonical_dtype(dtype), weak


@cache
def _common(types: tuple[tuple[Any, bool], ...], strict: bool) -> tuple[DType, bool]:
    first = types[0][0]
    weak = all(w for _, w in types)
    if all(d == first for d, _ in types):
        return first, weak and first != np.bool_
    # Where all are weak, promote their strong counterparts: a weak int16 stays 16 bits wide.
    given = [(d, w and not (weak and not strict)) for d, w in types]
    try:
        found = join(frozenset(node(d, w) for d, w in given), strict)
    except KeyError as e:
        raise TypePromotionError(
            f"dtype {e.args[0]} takes no part in type promotion: only numbers and booleans do. "
            "Convert explicitly."
        ) from None
    if found is None:
        raise TypePromotionError(_no_promotion([d for d, _ in types], strict))
    if isinstance(found, str):
        return WEAK[found], True
    return found, weak and found != np.bool_


def _no_promotion(types: list[DType], strict: bool) -> str:
    names = " and ".join(dict.fromkeys(str(t) for t in types))
    why = "there is none"
    if strict:
        why = "numpy_dtype_promotion='strict' allows none between arrays of different types"
    elif any(t in FP8 or t in FP4 for t in types):
        why = "8-bit and 4-bit floats are never promoted implicitly"
    elif any(t in SMALL_INTS for t in types):
        why = "integers of 2 and 4 bits are never promoted implicitly"
    return (
        f"element types {names} have no implicit promotion: {why}. Convert to the type that you "
        "want first, for example with x.astype('float32')."
    )
