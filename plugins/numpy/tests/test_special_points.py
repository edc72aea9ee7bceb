"""Values and derivatives at ties and infinities; weak types and errors of rarely used arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp

INF = math.inf


@pytest.mark.parametrize("function", [jnp.logaddexp, jnp.logaddexp2])
@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [(-INF, 0.0, (0.0, 1.0)), (0.0, -INF, (1.0, 0.0)), (INF, -INF, (1.0, 0.0)),
     (INF, INF, (1.0, 1.0)), (INF, 0.0, (1.0, 0.0)), (3.0, 3.0, (0.5, 0.5))],
)  # fmt: skip
def test_derivatives_of_logarithms_of_sums(function, x, y, wanted):
    assert dovetail.grad(function, (0, 1))(x, y) == wanted


@pytest.mark.parametrize("function", [jnp.logaddexp, jnp.logaddexp2])
@pytest.mark.parametrize(("x", "y"), [(math.nan, 0.0), (-INF, -INF)])
def test_derivatives_of_logarithms_of_sums_that_are_undefined(function, x, y):
    value, slope = dovetail.value_and_grad(function)(x, y)
    np.testing.assert_equal(np.asarray(value), np.float32(x + y))
    assert math.isnan(slope)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0], [1.0, 0.5, 0.5]])
def test_elements_at_edges_are_in_the_bin_that_numpy_says(bins, right):
    x = np.array([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0])
    np.testing.assert_array_equal(jnp.digitize(x, jnp.array(bins), right),
                                  np.digitize(x, bins, right))  # fmt: skip


def test_weak_types_of_powers():
    integers = jnp.arange(3)
    assert not (2.0**integers).weak_type
    assert not (jnp.array(2.0) ** integers).weak_type
    assert (integers**2.0).weak_type
    assert (2.0 ** jnp.array(3)).weak_type


@pytest.mark.parametrize(
    ("function", "x", "y", "weak"),
    [(jnp.copysign, 5, np.ones(3, np.float32), False), (jnp.copysign, 5, 1.0, True),
     (jnp.hypot, np.array([True]), 1, False), (jnp.hypot, 1, 1.0, True),
     (jnp.heaviside, np.arange(3), 1.0, False)],
)  # fmt: skip
def test_weak_types_of_results(function, x, y, weak):
    assert function(x, y).weak_type == weak


def test_integers_of_weak_type_to_the_power_of_integers():
    result = jnp.array(2) ** jnp.arange(3)
    assert not result.weak_type
    np.testing.assert_array_equal(result, [1, 2, 4])


def test_histograms_of_points_with_integers_as_weights_and_bins():
    points = np.random.default_rng(0).uniform(size=(9, 2)).astype(np.float32)
    weights = np.arange(9)
    counts, _ = jnp.histogramdd(points, weights=jnp.asarray(weights))
    assert counts.dtype == np.float32
    np.testing.assert_array_equal(counts, np.histogramdd(points, weights=weights)[0])
    counts, edges = jnp.histogramdd(points, bins=jnp.array([2, 3]))
    assert counts.shape == (2, 3)
    np.testing.assert_array_equal(counts, np.histogramdd(points, bins=[2, 3])[0])
    assert [e.shape for e in edges] == [(3,), (4,)]


def test_axes_of_one_transform():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(jnp.fft.fft(x, axis=None), np.fft.fftn(x), atol=1e-5)
    for axis in ((0,), [0, 1]):
        with pytest.raises(ValueError, match="takes one axis"):
            jnp.fft.ifft(x, axis=axis)
    assert not jnp.fft.rfftn(1.5).weak_type


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: jnp.fft.fftfreq([3]), "n is one integer"),
        (lambda: jnp.fft.rfftfreq(3, np.ones(2)), "d is one number"),
        (lambda: jnp.linalg.pinv(np.eye(2), rtol=0.1, rcond=0.1), "both are given"),
        (lambda: jnp.histogramdd(np.ones((3, 2)), weights=np.ones(2)), "weights of shape"),
        (lambda: jnp.hstack(np.ones((0, 3))), "at least one array"),
        (lambda: jnp.quantile(np.ones(3), 0.5, weights=np.ones(3)), "inverted_cdf"),
        (lambda: jnp.quantile(np.ones(3), 0.5, out=np.ones(())), "the 'out' argument"),
        (lambda: jnp.full((0, 1), np.ones(3)), "operand of shape"),
        (lambda: jnp.ones(2).reshape(2, order="K"), "order must be"),
        (lambda: jnp.ones(2).at[0].set(jnp.ones((1,))), "does not broadcast"),
        (lambda: jnp.ones(2).at[:1].add(jnp.ones((1, 1))), "does not broadcast"),
    ],
)
def test_errors_of_values(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: jnp.linalg.qr(np.ones(3)),
        lambda: jnp.linalg.matrix_power(np.ones((2, 3)), 2),
        lambda: jnp.ones((2, 2)).transpose(0, 0),
    ],
)
def test_errors_of_types(call):
    with pytest.raises(TypeError):
        call()
