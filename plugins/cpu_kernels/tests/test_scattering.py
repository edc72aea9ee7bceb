"""Sums of many numbers at places of an array: in order as XLA adds them, or in four chunks."""

import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp

NUMBERS = [np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64]


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


def _job(rng, size, count, dtype, places=np.int32, outside=0.01):
    at = rng.integers(0, size, count).astype(places)
    if outside:
        at = np.where(rng.random(count) < outside, size + rng.integers(0, 9, count), at)
    added = (rng.standard_normal(count) * 100).astype(dtype)
    return (rng.standard_normal(size) * 10).astype(dtype), at.astype(places), added


def _add(x, places, updates):
    return x.at[places].add(updates)


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: np.dtype(t).name)
def test_numbers_are_added_in_order(same_bits, rng, dtype):
    for size, count, outside in (
        (1, 2000, 0),
        (7, 2001, 0.1),
        (5000, 4000, 0),
        (5000, 70_000, 0.01),
    ):
        same_bits(_add, *_job(rng, size, count, dtype, outside=outside))


def test_what_is_outside_is_left_out(same_bits, rng):
    x, places, added = _job(rng, 50, 2000, np.float32, outside=0)
    for wild in (-1, -50, -51, 50, 2**31 - 1, -(2**31)):
        same_bits(_add, x, np.where(places == 3, wild, places).astype(np.int32), added)
    same_bits(_add, x, places.astype(np.uint32), added)


def test_negative_places_count_from_the_end_within_the_kernel(same_bits, rng):
    x, places, added = _job(rng, 50, 5003, np.float32, outside=0)
    assert _wraps(_add, x, places, added)
    same_bits(_add, x, places - 50, added)
    same_bits(_add, x, places - 60, added)  # some of them are outside
    same_bits(_add, x, places.astype(np.int8), added)
    assert not _wraps(_add, x, places.astype(np.uint32), added)
    # What is not quite the same is computed before it.
    for other in (
        lambda x, places, added: _scatter(x, dnp.where(places < 0, places + 49, places), added),
        lambda x, places, added: _scatter(x, dnp.where(places < 1, places + 50, places), added),
        lambda x, places, added: _scatter(x, dnp.where(places < 0, places, places + 50), added),
        lambda x, places, added: _scatter(x, dnp.where(places < 0, added[0] > 0, places), added),
    ):
        same_bits(other, x, places - 25, added)
        assert not _wraps(other, x, places - 25, added)

    def turned(x, places, added):
        wrapped = dnp.where(places < 0, places + 50, places)
        return _scatter(x, wrapped.T.reshape(-1), added)

    same_bits(turned, x, (places - 25)[:5000].reshape(50, 100), added[:5000])


def _scatter(x, places, added):
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    return lax.scatter_add(x, places.astype("int32")[:, None], added, numbers)


def _wraps(function, *args):
    return "wraps = true" in dovetail.jit(function).lower(*args).as_text()


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: np.dtype(t).name)
def test_sorted_and_equal_places(both, rng, dtype):
    for size in (3, 1000, 2048, 2100):  # the largest have one copy of the sums
        x, places, added = _job(rng, size, 70_001, dtype, outside=0.01)
        for at in (np.sort(places), np.full_like(places, size - 1), places - size):
            mine, xla = (result for (result,) in both(_add, x, at, added))
            if np.dtype(dtype).kind != "f":
                assert np.array_equal(mine, xla)
                continue
            counts, sums = np.zeros(size), abs(x).astype(np.float64)
            inside = (at >= -size) & (at < size)
            np.add.at(counts, at[inside], 1)
            np.add.at(sums, at[inside], abs(added[inside]).astype(np.float64))
            assert np.all(abs(mine - xla) <= np.finfo(dtype).eps * (counts + 8) * sums)


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: np.dtype(t).name)
def test_many_are_added_in_chunks(both, rng, dtype):
    x, places, added = _job(rng, 1000, 1 << 17, dtype)
    mine, xla = (result for (result,) in both(_add, x, places, added))
    if np.dtype(dtype).kind != "f":
        assert np.array_equal(mine, xla)
        return
    exact, magnitudes = x.astype(np.longdouble), abs(x).astype(np.longdouble)
    inside = places < 1000
    np.add.at(exact, places[inside], added[inside])
    np.add.at(magnitudes, places[inside], abs(added[inside]))
    counts = np.bincount(places[inside], minlength=1000)
    assert np.all(abs(mine - exact) <= np.finfo(dtype).eps * (counts / 4 + 16) * magnitudes)


def test_zeros_keep_their_sign_where_nothing_is_added(both, rng):
    x = np.full(100, -0.0, np.float32)
    places = rng.integers(0, 50, 1 << 16).astype(np.int32)
    mine, xla = both(_add, x, places, np.full(1 << 16, -0.0, np.float32))
    assert mine[0].tobytes() == xla[0].tobytes() == x.tobytes()


def test_the_result_does_not_depend_on_how_often_it_is_computed(rng):
    job = [dnp.asarray(a) for a in _job(rng, 100, 100_000, np.float32)]
    f = dovetail.jit(_add)
    first = np.asarray(f(*job)).tobytes()
    assert all(np.asarray(f(*job)).tobytes() == first for _ in range(20))
    assert np.array_equal(job[0], np.asarray(job[0]))  # the operand is kept


def test_derivative_and_batches(rng):
    x, places, added = _job(rng, 30, 3000, np.float64, outside=0)

    def loss(added):
        return (dnp.asarray(x).at[places].add(added) ** 2).sum()

    sums = x.copy()
    np.add.at(sums, places, added)
    np.testing.assert_allclose(dovetail.jit(dovetail.grad(loss))(added), 2 * sums[places])
    batched = dovetail.jit(dovetail.vmap(lambda a: _add(dnp.asarray(x), places, a)))
    result = batched(np.stack([added] * 2))
    np.testing.assert_allclose(result, np.stack([sums] * 2))


def test_what_has_no_kernel_is_left_to_xla(rng):
    x, places, added = (dnp.asarray(a) for a in _job(rng, 50, 2000, np.float32, outside=0))
    calls = [
        lambda x: x.at[places[:500]].add(added[:500]),
        lambda x: x.at[places].max(added),
        lambda x: x.at[places].add(added, mode="clip"),
        lambda x: dnp.stack([x, x]).at[0, places].add(added),
        lambda x: x.astype("bfloat16").at[places].add(added.astype("bfloat16")),
        lambda x: lax.scatter_mul(
            x, places[:, None], added, lax.ScatterDimensionNumbers((), (0,), (0,))
        ),
    ]
    for call in calls:
        assert "dovetail_cpu" not in dovetail.jit(call).lower(x).as_text()
