"""Questions about element types and values: promotion, casting, kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.foreign import names_itself
from dovetail_base.source import called, short_repr
from dovetail_core import dtype_named, here
from dovetail_lax import dtypes

from .operands import DTypeLike


def result_type(*args: Any) -> Any:
    """The element type that arrays, scalars and dtypes are promoted to together.

    Raises:
        TypePromotionError: there is none.
        ValueError: no argument is given.
    """
    return dtypes.result_type(*args)


@names_itself
def promote_types(a: DTypeLike, b: DTypeLike) -> Any:
    """The element type that two dtypes are promoted to.

    Raises:
        TypePromotionError: there is none.
    """
    return dtypes.promote_types(a, b, strict=dtypes.numpy_dtype_promotion.value == "strict")


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """Whether a dtype is, or belongs to, another one or an abstract kind such as ``floating``."""
    return dtypes.issubdtype(_plain(arg1), _plain(arg2))


def _plain(x: Any) -> Any:
    result = getattr(x, "dtype", None)
    return result if isinstance(result, np.dtype) and not isinstance(x, np.dtype) else x


_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",), "signed integer": ("signed",), "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"), "real floating": ("floating",),
    "complex floating": ("complex",), "numeric": ("signed", "unsigned", "floating", "complex"),
}  # fmt: skip


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Whether ``dtype`` is of a kind: a name of the array API standard, a dtype, or one of a tuple.

    Raises:
        ValueError: an unknown name.
    """
    own = dtype_named(_plain(dtype))
    for k in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(k, str) and k not in _KINDS and k not in np.sctypeDict:
            raise ValueError(
                f"isdtype: {k!r} is none of the kinds {', '.join(map(repr, _KINDS))}{here()}"
            )
        if isinstance(k, str) and k in _KINDS:
            if dtypes.kind_of(own) in _KINDS[k]:
                return True
        elif dtype_named(_plain(k)) == own:
            return True
    return False


@names_itself
def can_cast(from_: Any, to: DTypeLike, casting: str = "safe") -> bool:
    """Whether a cast between dtypes is allowed by NumPy's rules."""
    source = _plain(from_)
    arguments.string("casting", casting)
    return np.can_cast(dtype_named(source), dtype_named(_plain(to)), casting=casting)  # type: ignore[arg-type]


@names_itself
def iscomplexobj(x: Any) -> bool:
    """Whether ``x`` is of a complex type, also if all imaginary parts are zero."""
    if x is None or isinstance(x, str):
        return False
    return _dtype(arguments.array_of(x)).kind == "c"


@names_itself
def isrealobj(x: Any) -> bool:
    """Whether ``x`` is not of a complex type."""
    return not iscomplexobj(x)


def _dtype(x: Any) -> Any:
    if hasattr(x, "dtype"):
        return x.dtype
    if isinstance(x, int):
        return np.dtype(np.int64)  # however large
    dtype = np.asarray(x).dtype
    if dtype.kind in "OSUV":
        raise TypeError(f"{short_repr(x)} is no array and no number{called()}")
    return dtype


def isscalar(element: Any) -> bool:
    """Whether ``element`` is a Python number, or an array without dimensions."""
    if hasattr(element, "aval"):
        return element.shape == ()
    if isinstance(element, np.ndarray):
        return element.ndim == 0
    convert = getattr(element, "__jax_array__", None)
    return bool(np.isscalar(element)) if convert is None else isscalar(convert())


def iterable(y: Any) -> bool:
    """Whether one can iterate over ``y``."""
    if hasattr(y, "aval"):
        return bool(y.shape)
    return bool(np.iterable(y))
