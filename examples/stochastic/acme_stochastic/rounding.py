"""Rounding at random: numbers moved by units in the last place, as a hash of bits decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

import dovetail_lax as lax
from dovetail_core import is_inexact, typeof
from dovetail_jit import jit


def rounded(x: Any, seed: Any, name: str, near: Sequence[Any] = (), *, width: int = 1) -> Any:
    """``x`` with each element moved by ``width`` units in its last place.

    It goes up or down with probability 1/4 each, as a hash decides: of the seed, the bits of the
    element, the name of the operation, and the bits of those elements of ``near`` that stand beside
    it, or, where none does, its place. Zeros, infinities, NaN and subnormal numbers stay.
    Derivatives do not see it.
    """
    aval: Any = typeof(x)
    if not is_inexact(getattr(aval, "dtype", None)) or not width or not aval.size:
        return x
    if aval.dtype.kind == "c":
        parts = [rounded(p, seed, name, near, width=width) for p in (lax.real(x), lax.imag(x))]
        return lax.complex(*parts)
    shapes = (), aval.shape
    beside = [lax.stop_gradient(y) for y in near if getattr(typeof(y), "shape", None) in shapes]
    step = _step(lax.stop_gradient(x), seed, np.uint32(crc32(name.encode())), beside)
    moved = lax.add(x, step * aval.dtype.type(width))
    return lax.select(lax.ne(step, lax.full_like(step, 0)), moved, x)  # -0 + 0 is not -0


@jit
def _step(x: Any, seed: Any, salt: Any, beside: Sequence[Any]) -> Any:
    """A unit in the last place of ``x``, its negative, or 0."""
    dtype = x.dtype
    unsigned, one = np.dtype(f"u{dtype.itemsize}"), np.array(1, dtype)
    exponent = np.array(np.inf, dtype).view(unsigned)[()]
    bits = lax.bitcast_convert_type(x, unsigned) & exponent
    power = lax.bitcast_convert_type(bits, dtype)  # of two, the largest that |x| reaches
    epsilon = ((one.view(unsigned) + unsigned.type(1)).view(dtype) - one)[()]
    random = _hash(_word(x) ^ salt, 1)
    if not beside and x.shape:
        random = random + _hash(lax.reshape(lax.iota(np.uint32, x.size), x.shape), 2)
    for y in beside:  # in any order: a + b is b + a
        random = random + _hash(_word(y), 3)
    random = _hash(_hash(random, 4) ^ seed, 5)
    up, down = random >> np.uint32(31), (random >> np.uint32(30)) & np.uint32(1)
    moves = (bits != exponent) & (seed != np.uint32(0))
    step = lax.convert_element_type(up, dtype) - lax.convert_element_type(down, dtype)
    return lax.select(moves, step * power * epsilon, lax.full_like(x, 0))


def _word(x: Any) -> Any:
    """The bits of numbers as 32-bit words."""
    dtype = typeof(x).dtype  # type: ignore[attr-defined]
    if dtype.kind == "c":
        return _word(lax.real(x)) + _hash(_word(lax.imag(x)), 6)
    if not is_inexact(dtype):
        return lax.convert_element_type(x, np.uint32)
    bits = lax.bitcast_convert_type(x, np.dtype(f"u{dtype.itemsize}"))
    if dtype.itemsize == 8:
        bits = bits ^ (bits >> np.uint64(32))
    return lax.convert_element_type(bits, np.uint32)


def _hash(h: Any, salt: int) -> Any:
    """A bijection of words in which each bit depends on all: multiplications and shifts."""
    h = h ^ np.uint32(salt)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return h ^ (h >> np.uint32(16))
