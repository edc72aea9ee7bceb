"""The generator threefry2x32: its primitive, and keys and bits made with it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

import numpy as np

import dovetail_lax as lax
from dovetail_base.options import as_bool
from dovetail_core import Option, Primitive, ShapedArray, config, here, typeof

from .implementations import Implementation, register_prng_impl
from .keys import UINTS, Lanes, join_halves, upper_half

T = TypeVar("T")
U32 = UINTS[32]
ZERO = U32.type(0)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
"""The third word of the key schedule is the parity of the other two with this constant."""

threefry_partitionable = config.add(
    Option(
        "threefry_partitionable",
        True,
        "Whether element i of threefry's bits depends on the key and i alone, whatever the shape.",
        check=as_bool,
        traced=True,
    )
)


def how_drawn() -> dict[str, Any]:
    """The parameters of an operation that draws for the option's value where it is called.

    The operation is lowered later, when the option may have another value."""
    return {} if threefry_partitionable.state.value else {"partitionable": False}


def arranged(partitionable: bool, f: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """``f(*args, **kwargs)`` with the option's value of the time when the operation was called."""
    if threefry_partitionable.state.value is partitionable:
        return f(*args, **kwargs)
    with threefry_partitionable(partitionable):
        return f(*args, **kwargs)


threefry2x32_p = Primitive("threefry2x32", multiple_results=True)
"""Encrypts two words of counters with two words of key: four uint32 arrays to two.

Operands, like those of any elementwise operation, are equally shaped or scalar. With ``keys=True``
the results are used as keys, so that backends know that whatever is made of them needs both words.
"""
threefry2x32_p.def_traits(exact="integers")


@threefry2x32_p.def_abstract_eval
def _types(*avals: ShapedArray, keys: bool = False) -> list[ShapedArray]:
    shapes = {a.shape for a in avals if a.shape}
    if len(avals) != 4 or len(shapes) > 1 or any(a.dtype != U32 for a in avals):
        raise TypeError(
            "threefry2x32 takes two words of key and two of counters, uint32 arrays of one shape "
            f"or scalars; got {', '.join(a.str_short() for a in avals)}{here()}"
        )
    out = ShapedArray(shapes.pop() if shapes else (), U32)
    return [out, out]


@threefry2x32_p.def_decomposition
def _threefry2x32(k0: Any, k1: Any, x0: Any, x1: Any, *, keys: bool = False) -> list[Any]:
    # Five groups of four rounds; a round is an addition, a rotation and an exclusive or. After
    # each group the next two words of the key schedule are added, and the group's number.
    xor, add = lax.bitwise_xor, lax.add
    ks = (k0, k1, xor(xor(k0, k1), U32.type(PARITY)))
    x0, x1 = add(x0, k0), add(x1, k1)
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x0 = add(x0, x1)
            left = lax.shift_left(x1, U32.type(distance))
            right = lax.shift_right_logical(x1, U32.type(32 - distance))
            x1 = xor(lax.bitwise_or(left, right), x0)
        x0 = add(x0, ks[(group + 1) % 3])
        x1 = add(add(x1, ks[(group + 2) % 3]), U32.type(group + 1))
    return [x0, x1]


def _seed(seed: Any) -> Lanes:
    """The two halves of a 64-bit seed; a narrower seed has no upper half."""
    dtype = seed.dtype
    if isinstance(seed, np.generic):
        bits = int(seed) & (1 << 64) - 1
        return U32.type(bits >> 32 if dtype.itemsize > 4 else 0), U32.type(bits & (1 << 32) - 1)
    low = lax.convert_element_type(seed, U32)
    if dtype.itemsize <= 4:
        return ZERO, low
    high = lax.shift_right_logical(seed, dtype.type(32))
    return lax.convert_element_type(high, U32), low


def counters(shape: tuple[int, ...], limit: int = 1 << 32) -> Lanes:
    """Two words that count the elements of ``shape`` in row-major order: upper and lower half."""
    size = prod(shape)
    if size == 1 and not shape:
        return ZERO, ZERO
    if size <= limit:
        return ZERO, _reshaped(lax.iota_p.bind(dtype=U32, shape=(size,), dimension=0), shape)
    wide = lax.iota_p.bind(dtype=UINTS[64], shape=(size,), dimension=0)
    low = lax.convert_element_type_p.bind(wide, new_dtype=U32)
    return _reshaped(upper_half(wide), shape), _reshaped(low, shape)


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    if len(shape) == 1:
        return x
    return lax.reshape_p.bind(x, new_sizes=shape, dimensions=None)


def _split(lanes: Lanes, shape: tuple[int, ...]) -> Lanes:
    if threefry_partitionable.state.value:
        return tuple(threefry2x32_p.bind(*lanes, *counters(shape), keys=True))
    pairs = lax.reshape(_stream(lanes, 2 * prod(shape)), (*shape, 2))
    axis = len(shape)
    return tuple(lax.index_in_dim(pairs, w, axis, keepdims=False) for w in range(2))


def _fold_in(lanes: Lanes, data: Any) -> Lanes:
    return tuple(threefry2x32_p.bind(*lanes, ZERO, data, keys=True))


def _random_bits(lanes: Lanes, width: int, shape: tuple[int, ...]) -> Any:
    if not threefry_partitionable.state.value:
        return _from_stream(lanes, width, shape)
    high, low = threefry2x32_p.bind(*lanes, *counters(shape))
    if width == 64:
        return join_halves(high, low)
    bits = lax.xor_p.bind(high, low)
    return bits if width == 32 else lax.convert_element_type(bits, UINTS[width])


def _stream(lanes: Lanes, size: int) -> Any:
    """``size`` words in the original arrangement: pairs of counters of both halves."""
    if size >= 1 << 32:
        raise ValueError(
            f"{size} words of random bits are more than one threefry key has in the original "
            f"arrangement{here()}. Draw with several keys, or set threefry_partitionable."
        )
    half = (size + 1) // 2
    x0 = lax.iota(U32, half)
    x1 = lax.add(x0, U32.type(half))
    if size % 2:  # the last counter is padding
        x1 = lax.select(lax.lt(x1, U32.type(size)), x1, lax.full_like(x1, 0))
    words = lax.concatenate(threefry2x32_p.bind(*lanes, x0, x1), 0)
    return lax.slice_in_dim(words, 0, size) if size % 2 else words


def _from_stream(lanes: Lanes, width: int, shape: tuple[int, ...]) -> Any:
    size = prod(shape)
    words = _stream(lanes, -(-width * size // 32))
    if width == 64:
        bits = join_halves(lax.slice_in_dim(words, 0, size), lax.slice_in_dim(words, size, None))
    elif width == 32:
        bits = words
    else:  # a word is split from its lowest bits up
        per = 32 // width
        shifts = lax.mul(lax.broadcasted_iota(U32, (words.shape[0], per), 1), U32.type(width))
        parts = lax.shift_right_logical(
            lax.broadcast_in_dim(words, (words.shape[0], per), (0,)), shifts
        )
        bits = lax.convert_element_type(lax.reshape(parts, (words.shape[0] * per,)), UINTS[width])
        bits = lax.slice_in_dim(bits, 0, size)
    return _reshaped(bits, shape)


THREEFRY = register_prng_impl(
    Implementation(
        "threefry2x32", "fry", 2,
        seed=_seed, split=_split, fold_in=_fold_in, random_bits=_random_bits, elementwise=True,
    )
)  # fmt: skip


def threefry_2x32(keypair: Any, count: Any) -> Any:
    """Encrypt an array of uint32 counters, in pairs of the first half and the second.

    Args:
        keypair: two uint32 scalars, or an array of two.
        count: a uint32 array of any shape; the result has its shape.

    Raises:
        TypeError: an argument is not uint32.
    """
    key = (
        tuple(keypair) if isinstance(keypair, (tuple, list)) else tuple(keypair[w] for w in (0, 1))
    )
    kinds: list[Any] = [getattr(typeof(x), "dtype", None) for x in (*key, count)]
    if any(kind != U32 for kind in kinds):
        *key_kinds, kind = map(str, kinds)
        raise TypeError(
            f"threefry_2x32 takes uint32 arrays, got a key of {', '.join(key_kinds)} and counters "
            f"of {kind}{here()}"
        )
    flat = lax.reshape(count, (prod(np.shape(count)),))
    size = flat.shape[0]
    half = (size + 1) // 2
    padded = lax.pad(flat, ZERO, [(0, 2 * half - size, 0)])
    out = threefry2x32_p.bind(
        *key, lax.slice_in_dim(padded, 0, half), lax.slice_in_dim(padded, half, None)
    )
    return lax.reshape(lax.slice_in_dim(lax.concatenate(out, 0), 0, size), count.shape)
