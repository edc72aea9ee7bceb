"""The generators that encrypt counters with philox and threefry4x32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_random as random
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_random.ciphers import philox2x32, philox4x32, threefry4x32
from dovetail_random.generators import default_prng_impl
from dovetail_random.threefry import threefry_partitionable

U32 = np.uint32
FULL = 0xFFFFFFFF
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
MORE_OF_PI = (0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89)
CIPHERS = {
    "philox2x32": (philox2x32, 1),
    "philox4x32": (philox4x32, 2),
    "threefry4x32": (threefry4x32, 4),
}
every_generator = pytest.mark.parametrize("impl", sorted(CIPHERS))


def ints(words: Any) -> Any:
    return tuple([int(w) for w in words])


def encrypted(impl: str, key: Any, *counter: int) -> Any:
    cipher, words = CIPHERS[impl]
    return ints(cipher(tuple(map(U32, key[:words])), tuple(map(U32, counter))))


@pytest.mark.parametrize(
    ("impl", "key", "counter", "wanted"),
    [
        ("philox2x32", (0,), (0, 0), (0xFF1DAE59, 0x6CD10DF2)),
        ("philox2x32", (FULL,), (FULL, FULL), (0x2C3F628B, 0xAB4FD7AD)),
        ("philox2x32", PI[2:], PI[:2], (0xDD7CE038, 0xF62A4C12)),
        ("philox4x32", (0, 0), (0,) * 4, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ("philox4x32", (FULL,) * 2, (FULL,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ("philox4x32", MORE_OF_PI, PI, (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
        ("threefry4x32", (0,) * 4, (0,) * 4, (0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8)),
        (
            "threefry4x32", (FULL,) * 4, (FULL,) * 4,
            (0x2A881696, 0x57012287, 0xF6C7446E, 0xA16A6732),
        ),
        ("threefry4x32", MORE_OF_PI, PI, (0x59CD1DBB, 0xB8879579, 0x86B5D00C, 0xAC8B6D84)),
    ],
)  # fmt: skip
def test_known_answers(impl: str, key: Any, counter: Any, wanted: Any) -> None:
    """The answers that their authors published."""
    assert encrypted(impl, key, *counter) == wanted


@every_generator
def test_bits_are_words_of_a_counter(impl: str) -> None:
    key = random.key(5, impl=impl)
    words = ints(random.key_data(key))
    rest = () if impl == "philox2x32" else (0, 0)
    blocks = np.array([encrypted(impl, words, 0, i, *rest) for i in range(6)], U32)
    wanted = np.bitwise_xor.reduce(blocks, axis=1)
    for dtype in (np.uint8, np.uint16, np.uint32):
        np.testing.assert_array_equal(random.bits(key, (2, 3), dtype).ravel(), wanted.astype(dtype))
    high, low = blocks[:, :2].astype(np.uint64).T
    if impl == "threefry4x32":
        high, low = high ^ blocks[:, 2], low ^ blocks[:, 3]
    with enable_x64(True):
        result = random.bits(key, (6,), np.uint64)
    np.testing.assert_array_equal(result, high << np.uint64(32) | low)


@every_generator
def test_keys_are_words_of_other_counters(impl: str) -> None:
    key = random.key(2**31 - 1, impl=impl)
    words = ints(random.key_data(key))
    rest = () if impl == "philox2x32" else (0, 0)
    wanted = [encrypted(impl, words, *rest, 0, i)[: len(words)] for i in range(4)]
    split = np.asarray(random.key_data(random.split(key, (2, 2))))
    np.testing.assert_array_equal(split.reshape(4, -1), wanted)
    for i in range(4):
        assert ints(random.key_data(random.fold_in(key, i))) == wanted[i]


@every_generator
def test_seeds_have_64_bits(impl: str) -> None:
    def made(high: int, low: int) -> Any:
        if impl == "threefry4x32":
            return encrypted(impl, (high, low, 0, 0), 0, 0, 0, 0)
        words = CIPHERS[impl][1]
        return encrypted(impl, (0, 0), high, low, *[0] * (2 * words - 2))[:words]

    assert ints(random.key_data(random.key(-1, impl=impl))) == made(0, FULL)
    with enable_x64(True):
        assert ints(random.PRNGKey(2**40 + 3, impl=impl)) == made(256, 3)


@every_generator
def test_each_key_of_a_mapped_axis_draws_by_itself(impl: str) -> None:
    keys = random.split(random.key(7, impl=impl), 3)
    np.testing.assert_array_equal(vmap(random.bits)(keys), [random.bits(k) for k in keys])
    gamma = lambda k: random.gamma(k, 0.7)  # noqa: E731
    np.testing.assert_allclose(vmap(gamma)(keys), [gamma(k) for k in keys], rtol=1e-5)


@every_generator
def test_the_shape_does_not_matter(impl: str) -> None:
    key = random.key(7, impl=impl)
    wanted = random.bits(key, (12,))
    with threefry_partitionable(False):
        np.testing.assert_array_equal(random.bits(key, (3, 4)).ravel(), wanted)
    assert random.bits(key, (0,)).shape == (0,)


@every_generator
def test_they_are_chosen_by_name(impl: str) -> None:
    assert random.key_impl(random.key(0, impl=impl)) == impl
    with default_prng_impl(impl):
        key = random.PRNGKey(0)
        assert key.shape == (CIPHERS[impl][1],)
        np.testing.assert_array_equal(random.bits(key), random.bits(random.key(0)))


@every_generator
def test_numbers_are_uniform(impl: str) -> None:
    """Frequencies of 16 bins of 64,000 numbers: chi squared of 15 degrees is below 40 in all but
    one of 2000 seeds."""
    drawn = np.asarray(random.uniform(random.key(11, impl=impl), (64000,)))
    counts = np.bincount((drawn * 16).astype(int), minlength=16)
    assert ((counts - 4000.0) ** 2 / 4000.0).sum() < 40
