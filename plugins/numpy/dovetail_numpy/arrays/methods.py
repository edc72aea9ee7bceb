"""The methods and operators of arrays, set on tracers and on the runtime's array type."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_base.lazy import import_part
from dovetail_core import Tracer, here, install_methods, value_methods
from dovetail_xla.arrays import Array, ArrayImpl

from ..creation.arrays import array
from ..dtypes.conversion import astype, view
from ..fusion import of_one_array, of_two_arrays
from ..manipulation import shapes
from ..reductions import basic
from .concrete_attributes import install_concrete_attributes
from .operators import operators


def _reshape(
    x: Any, *args: Any, order: str = "C", copy: Any = None, out_sharding: Any = None
) -> Any:
    """The array in another shape, given as one argument or several."""
    shape = args[0] if len(args) == 1 else args
    return shapes.reshape(x, shape, order, copy=copy, out_sharding=out_sharding)


def _transpose(x: Any, *args: Any) -> Any:
    """The array with its axes in another order, given as one argument or several."""
    if not args or (len(args) == 1 and args[0] is None):
        return shapes.transpose(x)
    return shapes.transpose(x, args[0] if isinstance(args[0], (tuple, list)) else args)


def _flatten(x: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """The array's elements as a vector."""
    return shapes.ravel(x, order, out_sharding=out_sharding)


def _copy(x: Any) -> Any:
    """A copy of the array."""
    return array(x, copy=True)


def _clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """The array with elements limited to ``[min, max]``."""
    from ..ufuncs.clipping import clip

    return clip(x, min, max)


def _sort(
    x: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
    descending: bool = False,
) -> Any:  # fmt: skip
    """A sorted copy of the array."""
    from ..searching import sorting

    return sorting.sort(x, axis, kind=kind, order=order, stable=stable, descending=descending)


def _trace(
    x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Any:
    """The sum along a diagonal."""
    from ..creation.matrices import trace

    return trace(x, offset, axis1, axis2, dtype, out)


def _searchsorted(
    x: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """The indices at which elements of ``v`` would be inserted into the sorted array."""
    from ..searching import finding

    return finding.searchsorted(x, v, side, sorter, method=method)


def _item(x: Any, *args: Any) -> Any:
    """The element as a Python number."""
    concrete = x.concrete()
    if concrete is not None:
        return np.asarray(concrete).item(*args)
    kind = x.dtype.kind
    return {"b": bool, "i": int, "u": int, "c": complex}.get(kind, float)(x)


def _tobytes(x: Any, order: str = "C") -> bytes:
    """The bytes of the elements; of a traced array only where its value is known."""
    return arguments.known_array(x).tobytes(order)


def _tolist(x: Any) -> Any:
    """The elements as nested lists; of a traced array only where its value is known."""
    return arguments.known_array(x).tolist()


def _astype(x: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    """The array in another element type; see :func:`numpy.astype`."""
    return astype(x, dtype, copy=copy, device=device)


def _to_device(x: Any, device: Any, *, stream: Any = None) -> Any:
    """The array on another device, or with another sharding."""
    if stream is not None:
        raise NotImplementedError(
            f"to_device: the runtime chooses streams itself, drop stream={here()}"
        )
    from ..creation.placement import to_device

    return to_device(x, device)


def _itemsize(x: Any) -> int:
    """The number of bytes of one element."""
    return x.dtype.itemsize


def _nbytes(x: Any) -> int:
    """The number of bytes of all elements."""
    return x.size * x.dtype.itemsize


def _is_complex(x: Any) -> bool:
    return x.dtype.kind == "c"


def _real(x: Any) -> Any:
    """The real part."""
    return lax.real_p.bind(x) if _is_complex(x) else x


def _imag(x: Any) -> Any:
    """The imaginary part."""
    from ..ufuncs.unary import imag

    return imag(x)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": basic.all, "any": basic.any, "argmax": basic.argmax, "argmin": basic.argmin,
    "astype": _astype, "copy": _copy,
    "clip": _clip, "flatten": _flatten, "max": basic.max, "min": basic.min, "prod": basic.prod,
    "ptp": basic.ptp, "ravel": shapes.ravel, "reshape": _reshape, "searchsorted": _searchsorted,
    "sort": _sort, "squeeze": shapes.squeeze, "sum": basic.sum, "swapaxes": shapes.swapaxes,
    "trace": _trace, "transpose": _transpose, "view": view,
}  # fmt: skip
_LATE = {
    "contraction.products": "dot", "creation.matrices": "diagonal",
    "indexing.taking": "choose take", "manipulation.rearranging": "repeat",
    "reductions.cumulative": "cumprod cumsum", "reductions.moments": "mean std var",
    "searching.finding": "nonzero", "searching.sorting": "argpartition argsort",
    "ufuncs.rounding": "round", "ufuncs.unary": "conj conjugate",
}  # fmt: skip
"""Functions that are methods, too, by their modules, which are imported when they are used."""


def _of_module(module: str, name: str) -> Any:
    return getattr(import_part(f"dovetail_numpy.{module}"), name)


def _compress(
    x: Any, condition: Any, axis: int | None = None, *, size: int | None = None,
    fill_value: Any = 0, out: None = None,
) -> Any:  # fmt: skip
    """Slices of the array where ``condition`` is true."""
    from ..indexing.selecting import compress

    return compress(condition, x, axis, size=size, fill_value=fill_value, out=out)


def _byteswap(x: Any, inplace: bool = False) -> Any:
    """The array with the bytes of each element in the opposite order."""
    if inplace:
        raise NotImplementedError(
            "byteswap: arrays are immutable, so inplace=True is not supported"
        )
    if x.dtype.itemsize == 1:
        return x
    if not x.shape:
        return lax.reshape(_byteswap(lax.reshape(x, (1,))), ())
    octets = view(x, "uint8")
    width = x.dtype.itemsize
    split = lax.reshape(octets, (*x.shape, width))
    return view(lax.reshape(lax.rev(split, (split.ndim - 1,)), octets.shape), x.dtype)


class _Property(property):
    """A read-only attribute, computed."""

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"arrays are immutable: this attribute cannot be set{here()}")


def _at(x: Any) -> Any:
    """The object that makes updated copies of the array: ``x.at[index].set(value)``."""
    from ..indexing.at import At

    return At(x)


_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": lambda x: shapes.transpose(x), "mT": shapes.matrix_transpose, "real": _real,
    "imag": _imag, "at": _at, "flat": _flatten, "itemsize": _itemsize, "nbytes": _nbytes,
}  # fmt: skip
_DIRECT_PAIRS = [
    f"__{r}{n}__"
    for r in ("", "r")
    for n in (
        "add",
        "sub",
        "mul",
        "truediv",
        "matmul",
        "floordiv",
        "mod",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    )
] + ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
"""Operators that runtime arrays have as C++ callables: repeated calls do not enter Python."""
_TRACER_ONLY = {"item": _item, "tobytes": _tobytes, "tolist": _tolist}


def _namespace(x: Any, *, api_version: str | None = None) -> Any:
    """The module of array functions, by the array API standard."""
    import dovetail_numpy

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"no support for array API version {api_version!r}{here()}")
    return sys.modules.get("dovetail.numpy", dovetail_numpy)  # as programs import it


def methods() -> dict[str, Any]:
    """All operators, methods and properties that arrays and tracers have in common."""
    named = {
        "compress": _compress, "byteswap": _byteswap, "to_device": _to_device,
        "__array_namespace__": _namespace,
    }  # fmt: skip
    properties = {n: _Property(get) for n, get in _PROPERTIES.items()}
    late = {
        n: value_methods.LateMethod(partial(_of_module, module, n))
        for module, names in _LATE.items()
        for n in names.split()
    }
    return {**operators(), **_FUNCTIONS, **late, **named, **properties}


_OF_VALUES = ("item", "copy_to_host_async", "__copy__", "__deepcopy__")
"""Methods that runtime arrays implement themselves."""


def _delegate(name: str) -> Any:
    def method(self: Any, /, *args: Any) -> Any:
        return getattr(self, name)(*args)

    method.__name__ = name
    return method


def _direct(operator: Any) -> Any:
    return of_two_arrays(value_methods.loaded_method(operator))


def install() -> None:
    """Give tracers and runtime arrays their operators, methods and properties."""
    common = methods()
    install_methods(Tracer, {**common, **_TRACER_ONLY})
    install_concrete_attributes()
    install_methods(Array, {**common, **{n: _delegate(n) for n in _OF_VALUES}})
    own = {"__setitem__"}  # the array type has its own, which names the array
    direct = {n: value_methods.LateMethod(partial(_direct, common[n])) for n in _DIRECT_PAIRS}
    direct |= {n: of_one_array()(common[n]) for n in ("__neg__", "__abs__", "__invert__")}
    install_methods(ArrayImpl, {n: m for n, m in {**common, **direct}.items() if n not in own})
