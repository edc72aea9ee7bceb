"""Inspection of element types, values and the namespace: promotion, casting, kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import devices as _devices
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_base.source import called, short_repr
from dovetail_core import canonical_dtype, dtype_named, here
from dovetail_lax import dtypes

from ..operands import DTypeLike


def result_type(*args: Any) -> Any:
    """The element type that arrays, scalars and dtypes are promoted to together.

    Raises:
        TypePromotionError: there is none.
        ValueError: no argument is given.
    """
    return dtypes.result_type(*args)


@reword_errors
def promote_types(a: DTypeLike, b: DTypeLike) -> Any:
    """The element type that two dtypes are promoted to.

    Raises:
        TypePromotionError: there is none.
    """
    return dtypes.promote_types(a, b, strict=dtypes.numpy_dtype_promotion.value == "strict")


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """True if a dtype is, or belongs to, another one or an abstract kind such as ``floating``."""
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
    """True if ``dtype`` is of a kind: a name of the array API standard, a dtype, or one of a tuple.

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


@reword_errors
def can_cast(from_: Any, to: DTypeLike, casting: str = "safe") -> bool:
    """True if a cast between dtypes is allowed by NumPy's rules."""
    source = _plain(from_)
    arguments.string("casting", casting)
    return np.can_cast(dtype_named(source), dtype_named(_plain(to)), casting=casting)  # type: ignore[arg-type]


@reword_errors
def iscomplexobj(x: Any) -> bool:
    """True if ``x`` is of a complex type, also if all imaginary parts are zero."""
    if x is None or isinstance(x, str):
        return False
    return _dtype(arguments.array_of(x)).kind == "c"


@reword_errors
def isrealobj(x: Any) -> bool:
    """True if ``x`` is not of a complex type."""
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
    """True if ``element`` is a Python number, or an array without dimensions."""
    if hasattr(element, "aval"):
        return element.shape == ()
    if isinstance(element, np.ndarray):
        return element.ndim == 0
    convert = getattr(element, "__jax_array__", None)
    return bool(np.isscalar(element)) if convert is None else isscalar(convert())


def iterable(y: Any) -> bool:
    """True if one can iterate over ``y``."""
    if hasattr(y, "aval"):
        return bool(y.shape)
    return bool(np.iterable(y))


__array_api_version__ = "2024.12"
_DTYPES = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_DTYPES["integral"] = (
    *_DTYPES["signed integer"],
    *_DTYPES["unsigned integer"],
)
_DTYPES["numeric"] = (
    *_DTYPES["integral"],
    *_DTYPES["real floating"],
    *_DTYPES["complex floating"],
)


class NamespaceInfo:
    """Capabilities, devices and dtypes of ``dovetail.numpy`` (array API 2024.12, inspection)."""

    def capabilities(self) -> dict[str, Any]:
        """Abilities in which array libraries differ, as they are in compiled functions."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> Any:
        """None: arrays that are not committed to a device follow those that are."""
        return None

    def devices(self) -> list[Any]:
        """The devices on which arrays can be; None is the default."""
        return [None, *_devices()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays made without one; of 64 bits with ``enable_x64``."""
        return {
            "real floating": canonical_dtype(np.float64),
            "complex floating": canonical_dtype(np.complex128),
            "integral": canonical_dtype(np.int64),
            "indexing": canonical_dtype(np.int64),
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> Any:
        """The standard's dtypes that arrays can have, by name; of certain kinds.

        Raises:
            ValueError: there is no such kind; lists them.
        """
        kinds = (*_DTYPES,) if kind is None else (kind,) if isinstance(kind, str) else kind
        for k in kinds:
            if k not in _DTYPES:
                raise ValueError(
                    f"there is no kind of dtypes {k!r}{here()}; kinds are {', '.join(_DTYPES)}"
                )
        names = dict.fromkeys(name for k in kinds for name in _DTYPES[k])
        result = {name: np.dtype(name) for name in names}
        return {n: d for n, d in result.items() if canonical_dtype(d) == d}


def __array_namespace_info__() -> NamespaceInfo:
    """The description of this namespace that programs may read: see :class:`NamespaceInfo`."""
    return NamespaceInfo()
