"""Changing element types: by value, and by reading the same bytes as another type."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import ExtendedDType, canonical_dtype, here
from dovetail_lax import dtypes

from ..creation import placement
from ..creation.arrays import array, as_array
from ..fusion import fused
from ..operands import Array, ArrayLike, DTypeLike
from ..operations import strong, truth
from ..promotion import requested


def astype(
    x: ArrayLike, dtype: DTypeLike | None, /, *, copy: bool = False, device: Any = None
) -> Array:
    """``x`` in another element type; complex numbers lose their imaginary part, with a warning.

    Args:
        dtype: None means the default floating-point type.

    Raises:
        TypeError: the dtype is unknown, or is none of arrays.
        ValueError: it is extended, or that of ``x`` is, and says nothing of this conversion.
    """
    x = as_array("astype", x)
    dt = canonical_dtype(np.float64) if dtype is None else requested(dtype)
    dtypes.warn_imaginary(x.dtype, dt, dtypes.ImaginaryPartLost)
    if x.aval.dtype == dt and not x.aval.weak_type:
        out = array(x, copy=True) if copy else x
    elif dt.kind == "b" and x.dtype.kind != "b":
        out = strong(truth(x))
    elif isinstance(dt, ExtendedDType) or isinstance(x.dtype, ExtendedDType):
        out = lax.convert_element_type(x, dt)
    else:
        out = lax.convert_element_type_p.bind(x, new_dtype=dt, weak_type=False)
    return out if device is None else placement.to_device(out, device)


def view(x: ArrayLike, dtype: DTypeLike = None, type: None = None) -> Array:
    """The bytes of ``x`` read as another element type; the last axis grows or shrinks with it.

    Without a dtype it is ``x`` itself.

    Raises:
        ValueError: the last axis does not divide into elements of the new type.
        NotImplementedError: ``type`` is given.
    """
    if type is not None:
        raise NotImplementedError(f"view: the argument type is not supported{here()}")
    x = as_array("view", x)
    dt = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    if dt == x.dtype:
        return x
    old, new = x.dtype.itemsize, dt.itemsize
    if old != new and not x.shape:
        raise ValueError(f"view: a scalar cannot be read as a type of another size{here()}")
    if new > old and (x.shape[-1] * old) % new:
        raise ValueError(
            f"view: the last axis of an array of shape {x.shape} has {x.shape[-1] * old} bytes, "
            f"which do not divide into elements of {dt} ({new} bytes){here()}"
        )
    return _view(x, dtype=dt)


@fused(static=("dtype",))
def _view(x: Any, dtype: Any) -> Any:
    x = _plain_bits(x)
    plain = _bits_type(dtype)
    old, new = x.dtype.itemsize, plain.itemsize
    if new > old:
        x = lax.reshape(x, (*x.shape[:-1], x.shape[-1] * old // new, new // old))
    out = x if plain == x.dtype else lax.bitcast_convert_type(x, plain)
    if new < old:
        out = lax.reshape(out, (*x.shape[:-1], x.shape[-1] * old // new))
    return _from_bits(out, dtype)


def _bits_type(dtype: Any) -> Any:
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def _plain_bits(x: Any) -> Any:
    """``x`` in a type that bits can be read of: complex numbers as pairs, booleans as bytes."""
    if x.dtype.kind == "c":
        pairs = lax.stack([lax.real(x), lax.imag(x)], axis=x.ndim)
        return lax.reshape(pairs, (*x.shape[:-1], -1 if not x.shape else x.shape[-1] * 2))
    return lax.convert_element_type(x, np.uint8) if x.dtype.kind == "b" else x


def _from_bits(x: Any, dtype: Any) -> Any:
    if dtype.kind == "c":
        pairs = lax.reshape(x, (*x.shape[:-1], x.shape[-1] // 2, 2))
        parts = [lax.index_in_dim(pairs, i, pairs.ndim - 1, keepdims=False) for i in (0, 1)]
        return lax.complex(*parts)
    return lax.ne(x, np.uint8(0)) if dtype.kind == "b" else x
