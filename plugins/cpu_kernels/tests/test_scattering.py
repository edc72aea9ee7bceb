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


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: np.dtype(t).name)
def test_many_are_added_in_chunks(both, rng, dtype):
    x, places, added = _job(rng, 1000, 1 << 17, dtype)
    mine, xla = (found for (found,) in both(_add, x, places, added))
    if np.dtype(dtype).kind != "f":
        assert np.array_equal(mine, xla)
        return
    exact, magnitudes = x.astype(np.longdouble), abs(x).astype(np.longdouble)
    inside = places < 1000
    np.add.at(exact, places[inside], added[inside])
    np.add.at(magnitudes, places[inside], abs(added[inside]))
    counts = np.bincount(places[inside], minlength=1000)
    assert np.all(abs(mine - exact) <= np.finfo(dtype).eps * (counts / 4 + 8) * magnitudes)


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
    found = batched(np.stack([added] * 2))
    np.testing.assert_allclose(found, np.stack([sums] * 2))


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
