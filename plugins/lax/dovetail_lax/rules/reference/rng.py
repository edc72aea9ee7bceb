"""Random bits by NumPy: the generators Philox and ThreeFry as XLA runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.rng import RandomAlgorithm, rng_bit_generator_p
from .kinds import Array, quiet

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def _philox(key: Any, counter: Array) -> list[Array]:
    """Four words of 32 bits per counter, by ten rounds of Philox-4x32."""
    k0, k1 = key & _LOW, key >> _32
    x0, x1 = counter & _LOW, counter >> _32
    x2, x3 = np.full_like(x0, k0), np.full_like(x0, k1)
    for _ in range(10):
        a, c = x0 * np.uint64(0xD2511F53), x2 * np.uint64(0xCD9E8D57)
        x0, x1, x2, x3 = (c >> _32) ^ x1 ^ k0, c & _LOW, (a >> _32) ^ x3 ^ k1, a & _LOW
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & _LOW, (k1 + np.uint64(0xBB67AE85)) & _LOW
    return [x0, x1, x2, x3]


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _three_fry(key: Any, counter: Array) -> list[Array]:
    """Two words of 32 bits per counter, by twenty rounds of ThreeFry-2x32."""
    k0, k1 = key & _LOW, key >> _32
    keys = [k0, k1, k0 ^ k1 ^ np.uint64(0x1BD11BDA)]
    x0, x1 = (counter & _LOW) + k0 & _LOW, (counter >> _32) + k1 & _LOW
    for i in range(5):
        for r in _ROTATIONS[i % 2]:
            x0 = x0 + x1 & _LOW
            x1 = (x1 << np.uint64(r) | x1 >> np.uint64(32 - r)) & _LOW ^ x0
        x0 = x0 + keys[(i + 1) % 3] & _LOW
        x1 = x1 + keys[(i + 2) % 3] + np.uint64(i + 1) & _LOW
    return [x0, x1]


@reference_rules.register(rng_bit_generator_p)
@quiet
def _rng_bit_generator(
    key: Array, *, shape: Sequence[int], dtype: Any, algorithm: RandomAlgorithm
) -> list[Array]:
    state = key.copy().view(np.uint64)
    draw = _paired if algorithm == RandomAlgorithm.RNG_THREE_FRY else _in_fours
    bits, blocks = draw(state, tuple(shape), dtype.itemsize == 8)
    state[1] += np.uint64(blocks)
    return [state.view(key.dtype), bits.reshape(tuple(shape)).astype(dtype)]


def _counters(state: Array, n: int) -> Array:
    return state[1] + np.arange(n, dtype=np.uint64)


def _in_fours(state: Array, shape: tuple[int, ...], wide: bool) -> tuple[Array, int]:
    """Philox: the words of one counter after the other."""
    size = int(np.prod(shape))
    blocks = -(-size * (2 if wide else 1) // 4)
    words = _philox(state[0], _counters(state, blocks))
    if wide:
        words = [a | b << _32 for a, b in zip(words[::2], words[1::2])]
    return np.stack(words, -1).reshape(-1)[:size], blocks


def _paired(state: Array, shape: tuple[int, ...], wide: bool) -> tuple[Array, int]:
    """ThreeFry: a counter for two neighbours on the first even axis, or else the longest one."""
    if wide:
        size = int(np.prod(shape))
        low, high = _three_fry(state[0], _counters(state, size))
        return low | high << _32, size
    shape = shape or (1,)
    even = [i for i, n in enumerate(shape) if n % 2 == 0]
    axis = even[0] if even else int(np.argmax(shape))
    half = [-(-n // 2) if i == axis else n for i, n in enumerate(shape)]
    blocks = int(np.prod(half))
    words = [x.reshape(half) for x in _three_fry(state[0], _counters(state, blocks))]
    full = [2 * n if i == axis else n for i, n in enumerate(half)]
    return np.stack(words, axis + 1).reshape(full)[tuple(map(slice, shape))], blocks
