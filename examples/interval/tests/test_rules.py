"""Rules: bounds that are the best ones, extrema between the bounds, and poles."""

from __future__ import annotations

import numpy as np
import pytest
from acme_interval import interval

from dovetail import lax, numpy as dnp

f32 = np.float32
INF = np.inf


def bounds(f, *pairs):
    """The two bounds of a function of scalars, as floats."""
    lo, hi = zip(*pairs)
    low, high = interval(lambda xs: f(*xs))(list(map(f32, lo)), list(map(f32, hi)))
    return float(low), float(high)


EXACT = [
    (lambda x, y: x + y, [(1, 2), (-3, 5)], (-2, 7)),
    (lambda x, y: x - y, [(1, 2), (-3, 5)], (-4, 5)),
    (lambda x, y: x * y, [(-1, 2), (-3, 5)], (-6, 10)),
    (lambda x, y: x * y, [(-4, -2), (-3, -1)], (2, 12)),
    (lambda x: x * x, [(-1, 3)], (0, 9)),  # one operand twice, not two independent ones
    (lambda x: 2.0 * x, [(-1, 3)], (-2, 6)),
    (lambda x, y: x / y, [(1, 6), (-2, -1)], (-6, -0.5)),
    (lambda x, y: x / y, [(1, 6), (-2, 1)], (-INF, INF)),
    (lambda x: x / -2.0, [(1, 6)], (-3, -0.5)),
    (lambda x: -x, [(1, 2)], (-2, -1)),
    (dnp.abs, [(-3, 2)], (0, 3)),
    (dnp.abs, [(-3, -2)], (2, 3)),
    (dnp.square, [(-3, 2)], (0, 9)),
    (dnp.sign, [(-3, 2)], (-1, 1)),
    (dnp.maximum, [(0, 3), (1, 2)], (1, 3)),
    (dnp.minimum, [(0, 3), (1, 2)], (0, 2)),
    (dnp.floor, [(-0.5, 2.5)], (-1, 2)),
    (dnp.sqrt, [(4, 9)], (2, 3)),
    (lax.rsqrt, [(0.25, 4)], (0.5, 2)),
    (lax.rsqrt, [(0, 4)], (-INF, INF)),
    (lax.rem, [(-7, 5), (2, 3)], (-3, 3)),
    (lax.rem, [(1, 2), (-10, 10)], (0, 2)),
    (lambda x: x**2, [(-3, 2)], (0, 9)),
    (lambda x: x**3, [(-3, 2)], (-27, 8)),
    (lambda x: x**-1, [(-3, 2)], (-INF, INF)),
    (lambda x: x**-1, [(2, 4)], (0.25, 0.5)),
    (lambda x: x**-2, [(-2, 0.5)], (0.25, INF)),
    (lambda x: dnp.power(x, f32(2)), [(-3, 2)], (0, 9)),
    (lambda x: dnp.power(x, f32(-1)), [(-3, 2)], (-INF, INF)),
    (dnp.power, [(0.5, 2), (-1, 3)], (0.125, 8)),
    (dnp.power, [(-2, 1), (1, 2)], (-4, 4)),
    (lambda x: lax.clamp(f32(0), x, f32(1)), [(-1, 0.5)], (0, 0.5)),
    (dnp.where, [(0, 1), (2, 3), (-1, 2.5)], (-1, 3)),
    (lambda x: dnp.where(x > 0, x, -x), [(1, 2)], (1, 2)),
    (lambda x: dnp.where(x > 0, 1.0, 5.0), [(-2, -1)], (5, 5)),
]


@pytest.mark.parametrize("f, box, expected", EXACT)
def test_best_bounds(f, box, expected):
    assert bounds(f, *box) == expected


@pytest.mark.parametrize("f", [dnp.sin, dnp.cos, dnp.tan])
@pytest.mark.parametrize("start", np.linspace(-12, 12, 25))
@pytest.mark.parametrize("width", [0.01, 0.5, 2.0, 4.0, 8.0])
def test_waves(f, start, width):
    """Between the bounds are all values of a fine grid, and hardly more."""
    lo, hi = bounds(f, (start, start + width))
    # Extrema lie between grid points; the rule's bounds are those of the closed interval.
    grid = np.linspace(f32(start), f32(start + width), 4001)
    values = getattr(np, f.__name__)(grid)
    assert lo <= values.min() + 1e-5 and values.max() - 1e-5 <= hi
    if f is not dnp.tan:
        assert lo >= values.min() - 1e-5 and hi <= values.max() + 1e-5
    elif np.abs(np.diff(values)).max() < 0.5:  # no pole
        assert lo == pytest.approx(values.min(), abs=1e-3)
        assert hi == pytest.approx(values.max(), abs=1e-3)
    elif np.diff(values).min() < 0:
        assert (lo, hi) == (-INF, INF)


def test_waves_far_away_and_without_end():
    for width in (0.1, 1.0):
        x = f32(1e7)  # where the neighbours of a float are one apart
        lo, hi = bounds(dnp.sin, (x, x + f32(width)))
        assert lo <= np.sin(float(x)) <= hi
    assert bounds(dnp.cos, (0, INF)) == (-1, 1)
    assert bounds(dnp.cos, (-INF, INF)) == (-1, 1)


@pytest.mark.parametrize(
    "f, box, expected",
    [
        (dnp.cosh, (-1, 2), (1, np.cosh(2))),
        (dnp.arccos, (-0.5, 0.5), (np.arccos(0.5), np.arccos(-0.5))),
        (lax.erfc, (-1, 1), (0.15729921, 1.8427008)),
        (lax.logistic, (-1, 1), (0.26894143, 0.7310586)),
        (lax.lgamma, (1, 3), (-0.12148629, 0.6931472)),
        (lax.lgamma, (-0.5, 3), (-INF, INF)),
        (lax.digamma, (1, 2), (-0.5772157, 0.42278434)),
        (lax.bessel_i0e, (-1, 0.5), (0.46575961, 1)),
        (lambda x: lax.igamma(f32(2), x), (1, 2), (0.26424112, 0.59399415)),
        (lambda a: lax.igamma(a, f32(2)), (1, 2), (0.59399415, 0.86466472)),
    ],
)
def test_functions(f, box, expected):
    assert bounds(f, box) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "y, x, expected",
    [
        ((1, 2), (1, 2), (np.arctan2(1, 2), np.arctan2(2, 1))),
        ((-1, 1), (1, 2), (-np.pi / 4, np.pi / 4)),
        ((1, 2), (-2, -1), (np.arctan2(2, -1), np.arctan2(1, -2))),
        ((1, 2), (-1, 1), (np.arctan2(1, 1), np.arctan2(1, -1))),
        ((-1, 1), (-2, -1), (-np.pi, np.pi)),
        ((-1, 1), (-2, 1), (-np.pi, np.pi)),
        ((0, 1), (-2, -1), (-np.pi, np.pi)),  # zero may have either sign
    ],
)
def test_angles(y, x, expected):
    assert bounds(dnp.arctan2, y, x) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "op, table",
    [
        (lax.lt, {(0, 1): (True, True), (2, 3): (False, True), (5, 6): (False, False)}),
        (lax.ge, {(0, 1): (False, False), (2, 3): (False, True), (5, 6): (True, True)}),
        (lax.le, {(0, 2): (True, True), (4, 5): (False, True), (4.5, 6): (False, False)}),
        (lax.gt, {(0, 2): (False, False), (4, 5): (False, True), (4.5, 6): (True, True)}),
        (lax.eq, {(0, 1): (False, False), (2, 3): (False, True), (4, 6): (False, True)}),
        (lax.ne, {(0, 1): (True, True), (2, 3): (False, True), (4, 6): (False, True)}),
    ],
)
def test_comparisons(op, table):
    for box, expected in table.items():
        assert bounds(op, box, (2, 4)) == expected


def test_equality_of_two_equal_points():
    assert bounds(lax.eq, (2, 2), (2, 2)) == (True, True)
    assert bounds(lax.ne, (2, 2), (2, 2)) == (False, False)


def test_logic():
    def f(x):
        return dnp.logical_and(x > 0, x < 10) | ~(x > -5) | ((x > 0) ^ (x > 1))

    assert bounds(f, (2, 3)) == (True, True)
    assert bounds(f, (-6, -5.5)) == (True, True)
    assert bounds(f, (-4, -3)) == (False, False)
    assert bounds(f, (-4, 3)) == (False, True)


def test_integers():
    lo, hi = interval(lambda x: (x // 2, x % 4, x & 3, ~x, lax.population_count(x)))(
        np.int32(-3), np.int32(5)
    )
    assert int(lo[0]) <= -2 and int(hi[0]) >= 2
    assert int(lo[1]) <= 0 and int(hi[1]) >= 3
    assert (int(lo[3]), int(hi[3])) == (-6, 2)
    lo, hi = interval(lambda x: x & 6)(np.int32(3), np.int32(3) + np.int32(0))
    assert int(lo) == int(hi) == 2  # what turns out to be known is exact


def test_conversions():
    assert bounds(lambda x: x.astype("int32"), (-1.5, 2.5)) == (-1, 2)
    assert bounds(lambda x: x.astype("uint8"), (-1.5, 1000)) == (0, 255)
    assert bounds(lambda x: x.astype(bool), (-1, 2)) == (False, True)
    assert bounds(lambda x: x.astype(bool), (1, 2)) == (True, True)
    narrow = interval(lambda x: x.astype("int8"))
    assert tuple(map(int, narrow(np.int32(-5), np.int32(100)))) == (-5, 100)
    assert tuple(map(int, narrow(np.int32(-5), np.int32(300)))) == (-128, 127)  # wraps around
    assert tuple(map(int, narrow(np.int32(127), np.int32(128)))) == (-128, 127)


def test_sums_of_products_are_best_where_one_side_is_known():
    rng = np.random.default_rng(0)
    w = rng.normal(size=(3, 4)).astype(f32)
    lo = rng.normal(size=(2, 3)).astype(f32)
    hi = lo + rng.uniform(size=(2, 3)).astype(f32)
    low, high = interval(lambda x: x @ w)(lo, hi)
    mid, radius = (hi + lo) / 2, (hi - lo) / 2
    np.testing.assert_allclose(low, mid @ w - radius @ abs(w), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(high, mid @ w + radius @ abs(w), rtol=1e-4, atol=1e-5)
    low, high = interval(lambda x: w.T @ x.T)(lo, hi)
    np.testing.assert_allclose(high.T, mid @ w + radius @ abs(w), rtol=1e-4, atol=1e-5)


def test_sums_of_products_of_two_boxes():
    box = interval(lambda p: p[0] @ p[1])
    x, y = np.array([[1, -2]], f32), np.array([[3], [-1]], f32)
    lo, hi = box((x, y), (x + 1, y + 1))  # no box has both signs: the best bounds
    assert (float(lo[0, 0]), float(hi[0, 0])) == (1 * 3 - 1 * 0, 2 * 4 + 2 * 1)
    lo, hi = box((x - 1, y - 3), (x + 1, y + 3))
    best = 2 * 6, 3 * 4  # the largest products, of [0, 2] and [0, 6], of [-3, -1] and [-4, 2]
    assert sum(best) <= float(hi[0, 0]) <= 2 * sum(best)


def test_convolution():
    rng = np.random.default_rng(1)
    image, kernel = (rng.normal(size=s).astype(f32) for s in ((1, 2, 5, 5), (3, 2, 3, 3)))
    low, high = interval(lambda x: lax.conv(x, kernel, (1, 1), "SAME"))(image - 0.5, image + 0.5)
    mid = np.asarray(lax.conv(image, kernel, (1, 1), "SAME"))
    radius = np.asarray(lax.conv(np.full_like(image, 0.5), abs(kernel), (1, 1), "SAME"))
    np.testing.assert_allclose(low, mid - radius, atol=1e-4)
    np.testing.assert_allclose(high, mid + radius, atol=1e-4)


def test_moving_elements_about():
    x = np.arange(6, dtype=f32).reshape(2, 3)

    def f(x):
        y = dnp.concatenate([x.T, dnp.flip(x.T, 0)], axis=1)
        return dnp.pad(y[::2].reshape(-1), 1)[None]

    lo, hi = interval(f)(x, x + 1)
    np.testing.assert_array_equal(lo, f(x))
    ones = np.ones_like(x)
    np.testing.assert_array_equal(hi, np.asarray(f(x)) + np.asarray(f(ones)))


def test_reductions():
    lo, hi = np.array([[1, -2], [3, -1]], f32), np.array([[2, 0], [3, 4]], f32)
    low, high = interval(lambda x: (x.sum(0), x.max(), x.min(1), x.prod(), dnp.cumsum(x)))(lo, hi)
    for got, want in zip(low, ([4, -3], 3, [-2, -1], -48, [1, -1, 2, 1])):
        np.testing.assert_array_equal(got, want)
    for got, want in zip(high, ([5, 4], 4, [0, 3], 12, [2, 2, 5, 9])):
        np.testing.assert_array_equal(got, want)


def test_places_of_extrema():
    lo, hi = np.array([1, 5, 2, 4], f32), np.array([2, 6, 3, 5.5], f32)
    low, high = interval(lambda x: (dnp.argmax(x), dnp.argmin(x)))(lo, hi)
    assert [int(v) for v in (*low, *high)] == [1, 0, 3, 2]
    low, high = interval(dnp.argmax)(np.array([np.nan, 1], f32), np.array([0, 1], f32))
    assert (int(low), int(high)) == (0, 1)


def test_sorting():
    lo, hi = np.array([3, 0, 1], f32), np.array([4, 2, 1.5], f32)
    low, high = interval(dnp.sort)(lo, hi)
    np.testing.assert_array_equal(low, [0, 1, 3])
    np.testing.assert_array_equal(high, [1.5, 2, 4])
    keys = np.array([2, 0, 1], np.int32)
    low, high = interval(lambda x: lax.sort_key_val(keys, x)[1])(lo, hi)
    np.testing.assert_array_equal(low, [0, 1, 3])
    np.testing.assert_array_equal(high, [2, 1.5, 4])
    low, high = interval(lambda x: lax.sort_key_val(x, dnp.array([7.0, 8.0, 9.0]))[1])(lo, hi)
    np.testing.assert_array_equal(low, [7, 7, 7])
    np.testing.assert_array_equal(high, [9, 9, 9])
    # Nothing is known of one element, so that it may stand anywhere.
    low, high = interval(dnp.sort)(np.array([np.nan, 1], f32), np.array([np.nan, 1], f32))
    assert np.isnan(low).all() and np.isnan(high).all()


def test_indices_that_are_known_and_that_are_not():
    x = np.array([10, 20, 30, 40], f32)
    for f in (lambda x, i: x[i], lambda x, i: lax.dynamic_slice(x, (i,), (1,))[0]):
        read = interval(lambda p: f(p[0], p[1]))  # noqa: B023
        i = np.int32(1)
        low, high = read((x, i), (x + 1, i))  # known
        assert (float(low), float(high)) == (20, 21)
        low, high = read((x, i), (x + 1, i + np.int32(0)))  # turns out to be known
        assert (float(low), float(high)) == (20, 21)
        low, high = read((x, i), (x + 1, np.int32(2)))
        assert float(low) <= 20 and float(high) >= 31


def test_writing_at_a_place_that_is_not_known():
    x = np.array([10, 20, 30], f32)
    lo, hi = interval(lambda i: dnp.asarray(x).at[i].set(5.0))(np.int32(0), np.int32(2))
    np.testing.assert_array_equal(lo, [5, 5, 5])
    np.testing.assert_array_equal(hi, [10, 20, 30])
    lo, hi = interval(lambda i: dnp.asarray(x).at[i].add(5.0))(np.int32(0), np.int32(2))
    np.testing.assert_array_equal(lo, [10, 20, 30])
    np.testing.assert_array_equal(hi, [15, 25, 35])
    lo, hi = interval(lambda v: dnp.asarray(x).at[1].add(v))(f32(-1), f32(2))
    np.testing.assert_array_equal(lo, [10, 19, 30])
    np.testing.assert_array_equal(hi, [10, 22, 30])
