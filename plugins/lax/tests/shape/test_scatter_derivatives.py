"""Derivatives of scatters whose updates overlap, tie or are dropped."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, hessian, jvp, linear_transpose
from dovetail_lax import ScatterDimensionNumbers
from dovetail_testing import assert_near, finite_difference_with_error

POINTS = ScatterDimensionNumbers((), (0,), (0,))
X = np.array([1.5, -2.0, 0.5], np.float32)
U = np.array([2.0, 3.0, -1.0, 4.0], np.float32)
AT = np.array(
    [[2], [0], [2], [9]], np.int32
)  # the first and the third overlap, the last is outside


def cubes(y):
    return lax.reduce_sum(lax.integer_pow(y, 3), (0,))


def value_of(function, **more):
    return lambda x, u: cubes(function(x, AT, u, POINTS, **more))


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_sub", "scatter_max"])
def test_gradients_with_overlapping_updates(name):
    f = value_of(getattr(lax, name))
    result = grad(f, argnums=(0, 1))(X, U)
    for k, (g, x) in enumerate(zip(result, (X, U))):
        for i in range(len(x)):
            direction = np.zeros_like(x)
            direction[i] = 1
            tangents = (direction, None) if k == 0 else (None, direction)
            differences = finite_difference_with_error(lambda a, b: [f(a, b)], (X, U), tangents)
            ((expected, error),) = differences
            what = f"{name}, operand {k}, element {i}"
            assert_near(np.asarray(g)[i], expected, 2e-3, what, atol=error)


def test_the_update_that_is_kept_gets_the_cotangent():
    f = value_of(lax.scatter)
    at_x, at_u = grad(f, argnums=(0, 1))(X, U)
    np.testing.assert_allclose(at_x, [0, 3 * X[1] ** 2, 0])
    np.testing.assert_allclose(at_u, [0, 3 * U[1] ** 2, 3 * U[2] ** 2, 0])


def test_second_derivatives_of_scatter():
    f = value_of(lax.scatter)
    np.testing.assert_allclose(
        hessian(lambda u: f(X, u))(U), np.diag([0, 6 * U[1], 6 * U[2], 0]), rtol=1e-6
    )


def test_the_sign_of_a_zero_survives():
    minus = np.array([-0.0], np.float32)
    y, _ = jvp(lambda u: lax.scatter(minus, np.array([[0]]), u, POINTS), (minus,), (minus,))
    assert np.signbit(np.asarray(y))[0]


def test_ties_share_the_derivative():
    x = np.ones(2, np.float32)
    at = np.array([[0], [0]])
    f = lambda x, u: lax.reduce_sum(lax.scatter_max(x, at, u, POINTS), (0,))  # noqa: E731
    at_x, at_u = grad(f, argnums=(0, 1))(x, x)
    np.testing.assert_allclose(at_x, [1 / 3, 1], rtol=1e-6)
    np.testing.assert_allclose(at_u, [1 / 3, 1 / 3], rtol=1e-6)


def test_products_at_unique_places():
    at = np.array([[2], [0], [9]])
    u = U[:3]
    f = lambda x, u: cubes(lax.scatter_mul(x, at, u, POINTS, unique_indices=True))  # noqa: E731
    at_x, at_u = grad(f, argnums=(0, 1))(X, u)
    factors = np.array([u[1], 1, u[0]])
    np.testing.assert_allclose(at_x, 3 * (X * factors) ** 2 * factors, rtol=1e-6)
    by_update = 3 * (X * factors) ** 2 * X
    np.testing.assert_allclose(at_u, [by_update[2], by_update[0], 0], rtol=1e-6)


def test_products_in_the_operand_may_overlap():
    f = lambda x: cubes(lax.scatter_mul(x, AT, U, POINTS))  # noqa: E731
    factors = np.array([U[1], 1, U[0] * U[2]])
    np.testing.assert_allclose(grad(f)(X), 3 * (X * factors) ** 2 * factors, rtol=1e-6)


def test_linear_transposes_of_updates():
    ct = np.array([1.0, 2.0, 3.0], np.float32)
    put = lambda u: lax.scatter(X * 0, AT, u, POINTS)  # noqa: E731
    np.testing.assert_allclose(linear_transpose(put, U)(ct)[0], [0, 1, 3, 0])
    times = lambda u: lax.scatter_mul(X, AT[1:], u, POINTS, unique_indices=True)  # noqa: E731
    np.testing.assert_allclose(linear_transpose(times, U[1:])(ct)[0], [X[0], 3 * X[2], 0])


def test_what_cannot_be_differentiated_says_so():
    with pytest.raises(NotImplementedError, match=r"scatter_mul .* unique_indices=True at .*test_"):
        grad(lambda u: value_of(lax.scatter_mul)(X, u))(U)
    double = lambda v: lax.mul(v, np.float32(2))  # noqa: E731
    with pytest.raises(
        NotImplementedError, match=r"scatter_apply .* only with unique_indices=True"
    ):
        grad(lambda x: cubes(lax.scatter_apply(x, AT, double, POINTS, update_shape=(4,))))(X)
    with pytest.raises(NotImplementedError, match=r"transposed in its updates only with unique"):
        linear_transpose(lambda u: lax.scatter_mul(X, AT, u, POINTS), U)(X)
