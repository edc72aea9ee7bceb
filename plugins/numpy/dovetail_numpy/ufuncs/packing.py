"""Bits of bytes as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import names_itself
from dovetail_core import here

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..manipulation.shapes import moveaxis
from ..operands import Array, ArrayLike, axis_index, integer
from ..operations import number, reshape as to_shape, truth
from ..promotion import convert


def _prepared(name: str, a: ArrayLike, axis: int | None, bitorder: str) -> tuple[Any, int]:
    if bitorder not in ("little", "big"):
        raise ValueError(f"{name}: bitorder must be 'little' or 'big', got {bitorder!r}{here()}")
    x = as_array(name, a)
    if axis is None:
        return to_shape(x, (x.size,)), 0
    return x, axis_index(name, axis, x.ndim)


def _weights(bitorder: str) -> Any:
    order = range(8) if bitorder == "little" else range(7, -1, -1)
    return np.asarray(list(order), np.uint8)


@names_itself
@one_call("axis", "bitorder")
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements each (zero or not) as the bits of one byte; the rest is filled with zeros.

    Raises:
        TypeError: ``a`` is neither boolean nor of integers.
    """
    x, axis = _prepared("packbits", a, axis, bitorder)
    if x.dtype.kind not in "biu":
        raise TypeError(f"packbits takes booleans or integers, got dtype {x.dtype}{here()}")
    out = _pack(moveaxis(x, axis, -1), bitorder=bitorder)
    return moveaxis(out, -1, axis)


@fused(static=("bitorder",))
def _pack(x: Any, bitorder: str) -> Any:
    bits = lax.convert_element_type(truth(x), np.uint8)
    n = bits.shape[-1]
    last = bits.ndim - 1
    bits = lax.pad(
        bits, np.uint8(0), [(0, -n % 8 if i == last else 0, 0) for i in range(bits.ndim)]
    )
    octets = lax.reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    shifts = lax.broadcast_in_dim(_weights(bitorder), octets.shape, (octets.ndim - 1,))
    return lax.reduce_or(lax.shift_left(octets, shifts), (octets.ndim - 1,))


@names_itself
@one_call("axis", "count", "bitorder")
def unpackbits(
    a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of bytes as elements 0 and 1; ``count`` cuts off or fills up.

    Raises:
        TypeError: ``a`` is not of dtype uint8.
    """
    x, axis = _prepared("unpackbits", a, axis, bitorder)
    if x.dtype != np.uint8:
        raise TypeError(f"unpackbits takes an array of dtype uint8, got {x.dtype}{here()}")
    out = _unpack(moveaxis(x, axis, -1), bitorder=bitorder)
    if count is not None:
        wanted, n, last = integer("unpackbits", "count", count), out.shape[-1], out.ndim - 1
        stop = wanted if wanted >= 0 else n + wanted
        out = lax.slice_in_dim(out, 0, min(stop, n), axis=last)
        grown = [(0, max(stop - n, 0) if i == last else 0, 0) for i in range(out.ndim)]
        out = lax.pad(out, np.uint8(0), grown)
    return moveaxis(out, -1, axis)


@fused(static=("bitorder",))
def _unpack(x: Any, bitorder: str) -> Any:
    full = (*x.shape, 8)
    octets = lax.broadcast_in_dim(x, full, range(x.ndim))
    order = lax.iota(np.uint8, 8)
    order = order if bitorder == "little" else lax.rev(order, (0,))
    each = lax.broadcast_in_dim(lax.shift_left(np.uint8(1), order), full, (x.ndim,))
    # Compared, not shifted: the processor has vectors of bytes, but no shifts of them.
    bits = convert(lax.ne(lax.bitwise_and(octets, each), number(x, 0)), np.dtype(np.uint8))
    return lax.reshape(bits, (*x.shape[:-1], (x.shape[-1] if x.shape else 1) * 8))
