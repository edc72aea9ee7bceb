"""The generators ``rbg`` and ``unsafe_rbg``: the platform's own generator of random bits.

Their bits differ between platforms, and under ``vmap`` the first key draws for all. A key is four
words, two threefry keys side by side: ``rbg`` splits and folds each of them as threefry does,
``unsafe_rbg`` with the platform's generator, which is quicker and of unknown quality.
"""

from __future__ import annotations

from math import prod
from typing import Any

import dovetail_lax as lax

from .implementations import Implementation, register_prng_impl
from .keys import UINTS, Lanes, join_lanes, split_lanes
from .threefry import THREEFRY, ZERO

U32 = UINTS[32]
STRIDE = 10
"""``unsafe_rbg`` takes every tenth row of bits, to keep the streams of new keys apart."""


def _seed(seed: Any) -> Lanes:
    half = THREEFRY.seed(seed)
    return half + half


def _split(lanes: Lanes, shape: tuple[int, ...]) -> Lanes:
    return THREEFRY.split(lanes[:2], shape) + THREEFRY.split(lanes[2:], shape)


def _fold_in(lanes: Lanes, data: Any) -> Lanes:
    return THREEFRY.fold_in(lanes[:2], data) + THREEFRY.fold_in(lanes[2:], data)


def _random_bits(lanes: Lanes, width: int, shape: tuple[int, ...]) -> Any:
    return lax.rng_bit_generator(join_lanes(lanes), shape, dtype=UINTS[width])[1]


def _unsafe_split(lanes: Lanes, shape: tuple[int, ...]) -> Lanes:
    n = prod(shape)
    rows = lax.rng_bit_generator(join_lanes(lanes), (STRIDE * n, 4), dtype=U32)[1]
    kept = lax.slice(rows, (0, 0), (STRIDE * n, 4), (STRIDE, 1))
    return split_lanes(lax.reshape(kept, (*shape, 4)), 4)


def _unsafe_fold_in(lanes: Lanes, data: Any) -> Lanes:
    rows = lax.rng_bit_generator(join_lanes(_seed_words(data)), (STRIDE, 4), dtype=U32)[1]
    last = split_lanes(lax.index_in_dim(rows, STRIDE - 1, 0, keepdims=False), 4)
    return tuple(lax.bitwise_xor(a, b) for a, b in zip(lanes, last))


def _seed_words(data: Any) -> Lanes:
    return (ZERO, data, ZERO, data)


RBG = register_prng_impl(
    Implementation(
        "rbg", "rbg", 4,
        seed=_seed, split=_split, fold_in=_fold_in, random_bits=_random_bits,
    )
)  # fmt: skip
UNSAFE_RBG = register_prng_impl(
    Implementation(
        "unsafe_rbg", "urbg", 4,
        seed=_seed, split=_unsafe_split, fold_in=_unsafe_fold_in, random_bits=_random_bits,
    )
)  # fmt: skip
