"""The generators ``philox2x32``, ``philox4x32`` and ``threefry4x32``: counters, encrypted.

The ciphers are those of Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2,
3* (2011), with as many rounds as they recommend. What is drawn with a key, and keys that are made
of it, are words of different counters, so that they are independent; where the cipher has two words
only, bits are both of them together, and a key is the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_lax as lax

from .implementations import Implementation, fused, register_prng_impl
from .keys import UINTS, Lanes, join_halves
from .threefry import PARITY, THREEFRY, ZERO, counters

U32 = UINTS[32]
WEYL = (U32.type(0x9E3779B9), U32.type(0xBB67AE85))
"""Constants of the golden ratio and of √3, added to the words of philox's key after each round."""
MULTIPLIER = U32.type(0xD256D193)
MULTIPLIERS = (U32.type(0xD2511F53), U32.type(0xCD9E8D57))
PHILOX_ROUNDS = 10
ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
Cipher = Callable[[Lanes, Lanes], Lanes]


def _product(multiplier: Any, x: Any) -> tuple[Any, Any]:
    """The upper and the lower word."""
    return lax.mulhi(lax.full_like(x, multiplier), x), lax.mul(x, multiplier)


def _xor(x: Any, *others: Any) -> Any:
    for other in others:
        x = lax.bitwise_xor(x, other)
    return x


@fused()
def philox2x32(key: Lanes, counter: Lanes) -> Lanes:
    """Two words of counter, encrypted with one word of key."""
    (k,), (x0, x1) = key, counter
    for _ in range(PHILOX_ROUNDS):
        high, low = _product(MULTIPLIER, x0)
        x0, x1 = _xor(high, k, x1), low
        k = lax.add(k, WEYL[0])
    return x0, x1


@fused()
def philox4x32(key: Lanes, counter: Lanes) -> Lanes:
    """Four words of counter, encrypted with two words of key."""
    (k0, k1), (x0, x1, x2, x3) = key, counter
    for _ in range(PHILOX_ROUNDS):
        high0, low0 = _product(MULTIPLIERS[0], x0)
        high1, low1 = _product(MULTIPLIERS[1], x2)
        x0, x1, x2, x3 = _xor(high1, x1, k0), low1, _xor(high0, x3, k1), low0
        k0, k1 = lax.add(k0, WEYL[0]), lax.add(k1, WEYL[1])
    return x0, x1, x2, x3


@fused()
def threefry4x32(key: Lanes, counter: Lanes) -> Lanes:
    """Four words of counter, encrypted with four words of key."""
    schedule = (*key, _xor(U32.type(PARITY), *key))
    x0, x1, x2, x3 = map(lax.add, counter, key)
    for i in range(20):
        # A round mixes one pair of words and the other; the second of each pair are swapped.
        x0, x1 = _mix(x0, x1, ROTATIONS[i % 8][0])
        x2, x3 = _mix(x2, x3, ROTATIONS[i % 8][1])
        x1, x3 = x3, x1
        if i % 4 == 3:
            group = i // 4 + 1
            k0, k1, k2, k3 = (schedule[(group + w) % 5] for w in range(4))
            x0, x1, x2 = lax.add(x0, k0), lax.add(x1, k1), lax.add(x2, k2)
            x3 = lax.add(x3, lax.add(k3, U32.type(group)))
    return x0, x1, x2, x3


def _mix(x: Any, y: Any, distance: int) -> tuple[Any, Any]:
    x = lax.add(x, y)
    left = lax.shift_left(y, U32.type(distance))
    right = lax.shift_right_logical(y, U32.type(32 - distance))
    return x, _xor(lax.bitwise_or(left, right), x)


def _bits(halves: Lanes, words: Lanes, width: int) -> Any:
    """Bits made of all words, or of ``halves``, of 64 bits."""
    if width == 64:
        return join_halves(*halves)
    bits = _xor(*words)
    return bits if width == 32 else lax.convert_element_type(bits, UINTS[width])


def _of_two_words() -> Implementation:
    # A chain of keys is a chain of kernels: else XLA computes a key again in each kernel of it.
    def split(lanes: Lanes, shape: tuple[int, ...]) -> Lanes:
        return (lax.optimization_barrier(philox2x32(lanes, counters(shape))[0]),)

    def random_bits(lanes: Lanes, width: int, shape: tuple[int, ...]) -> Any:
        words = philox2x32(lanes, counters(shape))
        return _bits(words, words, width)

    return Implementation(
        "philox2x32", "phx2", 1,
        seed=lambda seed: philox2x32((ZERO,), THREEFRY.seed(seed))[:1],
        split=split,
        fold_in=lambda lanes, data: philox2x32(lanes, (ZERO, data))[:1],
        random_bits=random_bits,
        elementwise=True,
    )  # fmt: skip


def _of_four_words(
    cipher: Cipher, name: str, tag: str, words: int, seed: Any, halves: Callable[[Lanes], Lanes]
) -> Implementation:
    """Bits are made of counters in the first two words, keys of counters in the last two."""

    def split(lanes: Lanes, shape: tuple[int, ...]) -> Lanes:
        made = cipher(lanes, (ZERO, ZERO, *counters(shape)))[:words]
        return tuple(lax.optimization_barrier(made))

    def random_bits(lanes: Lanes, width: int, shape: tuple[int, ...]) -> Any:
        made = cipher(lanes, (*counters(shape), ZERO, ZERO))
        return _bits(halves(made), made, width)

    def fold_in(lanes: Lanes, data: Any) -> Lanes:
        return cipher(lanes, (ZERO, ZERO, ZERO, data))[:words]

    return Implementation(
        name, tag, words,
        seed=seed, split=split, fold_in=fold_in, random_bits=random_bits, elementwise=True,
    )  # fmt: skip


def _philox_seed(seed: Any) -> Lanes:
    return philox4x32((ZERO, ZERO), (*THREEFRY.seed(seed), ZERO, ZERO))[:2]


def _threefry_seed(seed: Any) -> Lanes:
    return threefry4x32((*THREEFRY.seed(seed), ZERO, ZERO), (ZERO,) * 4)


def _folded(words: Lanes) -> Lanes:
    return _xor(words[0], words[2]), _xor(words[1], words[3])


PHILOX2X32 = register_prng_impl(_of_two_words())
PHILOX4X32 = register_prng_impl(
    _of_four_words(philox4x32, "philox4x32", "phx4", 2, _philox_seed, lambda words: words[:2])
)
THREEFRY4X32 = register_prng_impl(
    _of_four_words(threefry4x32, "threefry4x32", "fry4", 4, _threefry_seed, _folded)
)
