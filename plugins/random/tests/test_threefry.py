"""The primitive ``threefry2x32`` and what is made of it directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_batching import vmap
from dovetail_core import lower_to_lo, stage_closed, typeof
from dovetail_core.ir.programs import open_program, walk_programs
from dovetail_jit import jit
from dovetail_random.rules.backends import FEW, _threefry2x32_reference as with_numpy
from dovetail_random.threefry import counters, threefry_partitionable

p = random.threefry2x32_p
U32 = np.uint32


def words(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(0, 1 << 32, shape, U32)[()]


@pytest.mark.parametrize(
    ("key", "count", "wanted"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_known_answers(key: Any, count: Any, wanted: Any) -> None:
    """The answers that its authors published."""
    result = p.bind(*map(U32, key), *map(U32, count))
    assert tuple(int(x) for x in result) == wanted
    assert tuple(int(x) for x in with_numpy(*map(U32, key), *map(U32, count))) == wanted
    array = random.threefry_2x32(dnp.asarray(key, U32), dnp.asarray(count, U32))
    assert tuple(np.asarray(array).tolist()) == wanted


@pytest.mark.parametrize(
    "shapes",
    [
        [(), (), (5,), (5,)],
        [(2, 3)] * 4,
        [(4,), (), (), (4,)],
        [(), (), (), (0,)],
        [()] * 4,
        [(FEW + 1,), (), (), (FEW + 1,)],
    ],
)
def test_lowering_and_decomposition_agree(shapes: Any) -> None:
    """Compiled, decomposed and computed by NumPy it is the same, for all mixtures of scalars."""
    args = [words(i, *s) for i, s in enumerate(shapes)]
    wanted = [np.asarray(x) for x in with_numpy(*args)]
    assert p.decomposition is not None
    for result in (p.bind(*args), jit(lambda *xs: p.decomposition(*xs))(*args)):  # type: ignore
        for x, y in zip(result, wanted):
            assert x.shape == y.shape and np.asarray(x).tolist() == y.tolist()


def test_large_arrays() -> None:
    """The lowering of many words gives the bits of the one of few words."""
    n = 1 << 15
    key = random.key(5)
    whole = np.asarray(random.bits(key, (n,)))
    high, low = with_numpy(*(np.asarray(x) for x in key.lanes), U32(0), np.arange(n, dtype=U32))
    assert np.array_equal(whole, high ^ low)
    assert np.array_equal(whole[:9], np.asarray(random.bits(key, (9,))))


@pytest.mark.parametrize("dims", [(0, 0, None, None), (None, None, None, 1), (0, 0, 0, 0)])
def test_vmap(dims: Any) -> None:
    """Mapping over keys, counters or both is a loop."""
    shapes: list[list[int]] = [[], [], [], [4]]
    for shape, d in zip(shapes, dims):
        if d is not None:
            shape.insert(d, 3)
    args = [words(i, *s) for i, s in enumerate(shapes)]
    result = vmap(lambda *xs: tuple(p.bind(*xs)), dims)(*args)
    rows = [
        p.bind(*(x if d is None else np.take(x, i, d) for x, d in zip(args, dims)))
        for i in range(3)
    ]
    for which in range(2):
        assert np.array_equal(result[which], np.stack([np.asarray(r[which]) for r in rows]))


def test_wide_counters() -> None:
    """Counters of more than 2**32 elements carry into the upper word."""

    def both(limit: int) -> Any:
        return jit(lambda: counters((2, 3), limit))()

    (high, low), (wide_high, wide_low) = both(1 << 32), both(2)
    assert np.array_equal(low, wide_low) and not np.asarray(wide_high).any()
    program = stage_closed(lambda k: [random.bits(random.wrap_key_data(k), (1 << 17, 1 << 16))],
                           [typeof(np.zeros(2, U32))])  # fmt: skip
    program = lower_to_lo(program)
    assert program.out_avals[0].shape == (1 << 17, 1 << 16)  # type: ignore[attr-defined]
    eqns = [e for p in walk_programs(program) for e in open_program(p).eqns]
    assert any(getattr(v.aval, "dtype", None) == np.uint64 for e in eqns for v in e.outvars)
    assert int(np.asarray(high)) == 0


def test_original_arrangement_is_limited() -> None:
    """More than 2**32 counters of one word are refused."""
    with (
        threefry_partitionable(False),
        pytest.raises(ValueError, match="set threefry_partitionable"),
    ):
        jit(lambda k: random.bits(k, (1 << 16, 1 << 17))).lower(random.key(0))


def test_prefixes_agree() -> None:
    """Element i depends on the key and on i alone; not so in the original arrangement."""
    key = random.key(3)
    assert np.array_equal(random.bits(key, (10,))[:4], random.bits(key, (4,)))
    with threefry_partitionable(False):
        assert not np.array_equal(random.bits(key, (10,))[:4], random.bits(key, (4,)))


def test_types() -> None:
    """Other types are refused."""
    with pytest.raises(TypeError, match=r"threefry2x32 takes two words .* got i32\[\], u32"):
        p.bind(np.int32(0), U32(0), U32(0), U32(0))
    with pytest.raises(TypeError, match="of one shape or scalars"):
        p.bind(words(0, 2), words(0, 3), U32(0), U32(0))
    with pytest.raises(
        TypeError, match="threefry_2x32 takes uint32 arrays, got a key of uint32, uint32"
    ):
        random.threefry_2x32(dnp.zeros(2, "uint32"), dnp.zeros(3, "int32"))
    with pytest.raises(TypeError, match="'a' of type str is not a valid array value"):
        random.threefry_2x32(dnp.zeros(2, "uint32"), "a")


@pytest.mark.parametrize("n", [0, 1, 6, 7])
def test_threefry_2x32_of_any_size(n: int) -> None:
    """Counters of odd number are padded with zero."""
    count = words(9, n).reshape(-1)
    result = np.asarray(random.threefry_2x32(dnp.asarray([1, 2], U32), dnp.asarray(count)))
    half = (n + 1) // 2
    padded = np.append(count, U32(0))[: 2 * half] if n % 2 else count
    wanted = np.concatenate(with_numpy(U32(1), U32(2), padded[:half], padded[half:]))[:n]
    assert result.tolist() == wanted.tolist()


def test_many_keys_are_made_once() -> None:
    """Both words of a key in one kernel, however many there are and whatever is made of them."""

    def rounds(size: int) -> int:
        derived = jit(lambda key: vmap(random.split)(random.split(key, size)))
        return derived.lower(random.key(0)).compile().as_text().count(" shift-left(")

    assert rounds(FEW * 4) == rounds(8)
