"""Numbers at the edges of their types: what is refused, and values and derivatives there."""

import numpy as np
import pytest

import dovetail as dv
import dovetail.numpy as jnp
from dovetail import lax
from dovetail_backends.testing import evaluated_by_reference


@pytest.fixture
def by_numpy():
    """Derivatives are of interest, and not what XLA makes of them."""
    with evaluated_by_reference():
        yield


def test_ldexp_is_exact():
    n = np.arange(-126, 128)
    np.testing.assert_array_equal(jnp.ldexp(1.0, n), np.ldexp(np.float32(1), n))
    np.testing.assert_array_equal(jnp.ldexp(np.float32(2.0**-100), 220), np.float32(2.0**120))
    np.testing.assert_array_equal(jnp.ldexp(np.float32(1.5), np.array([200, -400])), [np.inf, 0])
    assert dv.grad(jnp.ldexp)(3.0, 5) == 32.0


@pytest.mark.parametrize("function", ["logaddexp", "logaddexp2"])
@pytest.mark.parametrize("x, y", [(np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan), (np.nan, np.inf)])
def test_derivatives_of_sums_of_exponentials_at_nan_are_nan(function, x, y):
    value, slopes = dv.value_and_grad(getattr(jnp, function), (0, 1))(x, y)
    assert np.isnan(value)
    assert np.isnan(slopes).all()


@pytest.mark.parametrize("index", [10**30, -(10**30), 2**31, np.uint64(2**63)])
def test_indices_that_no_index_type_holds_are_refused(index):
    x = jnp.arange(3.0)
    with pytest.raises(OverflowError, match=r"does not fit into int32 at .*test_limits"):
        x[index]
    with pytest.raises(OverflowError, match=r"does not fit into int32 at .*test_limits"):
        x.at[index].set(1.0)
    with pytest.raises(OverflowError, match="does not fit into int32"):
        dv.jit(lambda x: x[0, index])(x[None])


def test_other_indices_out_of_bounds_are_clamped():
    x = jnp.arange(3.0)
    assert [x[5], x[-7], x[2**31 - 1]] == [2.0, 0.0, 2.0]
    np.testing.assert_array_equal(x.at[7].set(1.0), x)


def test_reduce_refuses_a_complex_start_of_real_numbers():
    with pytest.raises(
        TypeError, match=r"complex initial value 1j for an operand of type f32\[3\]"
    ):
        lax.reduce(jnp.arange(3.0), 1j, lax.add, (0,))
    assert lax.reduce(jnp.arange(3.0) + 0j, 1j, lax.add, (0,)) == 3 + 1j


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
def test_quantiles_of_level_nan_are_nan(name):
    x = jnp.arange(3.0)
    assert np.isnan(getattr(jnp, name)(x, np.nan))
    assert np.isnan(getattr(jnp, name)(x, jnp.array([0.5, np.nan]))[1])


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_systems_of_no_equations_have_solutions(shape):
    a = jnp.zeros(shape)
    assert jnp.linalg.inv(a).shape == shape
    assert jnp.linalg.solve(a, a).shape == shape
    assert dv.grad(lambda a: jnp.linalg.inv(a).sum())(a).shape == shape


def _cofactors(a):
    """By minors."""
    n = a.shape[-1]
    minors = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    return np.array(
        [[(-1) ** (i + j) * np.linalg.det(minors[i][j]) for j in range(n)] for i in range(n)]
    )


def _of_rank(n, rank, dtype=np.float64):
    rng = np.random.default_rng([n, rank])
    a = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
    return a if dtype == np.float64 else a * (1 + 0.5j)


SINGULAR = [_of_rank(n, r) for n, r in ((2, 1), (3, 1), (5, 4), (5, 3))]
SINGULAR += [np.diag([1.0, 2.0, 0.0, 3.0]), np.eye(3, k=1)]


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("a", SINGULAR, ids=lambda a: f"{len(a)}-{np.linalg.matrix_rank(a)}")
def test_the_derivative_of_a_determinant_is_the_matrix_of_cofactors(a):
    wanted = _cofactors(a)
    result = dv.grad(jnp.linalg.det)(jnp.asarray(a, "float32"))
    np.testing.assert_allclose(result, wanted, atol=3e-5 * (1 + abs(a).max()) ** len(a))
    both = jnp.asarray(np.stack([a, np.eye(len(a))]), "float32")
    batched = dv.vmap(dv.grad(jnp.linalg.det))(both)
    np.testing.assert_allclose(batched[0], result, atol=1e-5)
    np.testing.assert_allclose(batched[1], np.eye(len(a)), atol=1e-5)


@pytest.mark.usefixtures("by_numpy")
def test_derivatives_of_determinants_of_complex_and_of_no_matrices():
    a = _of_rank(3, 2, np.complex128)
    result = dv.grad(jnp.linalg.det, holomorphic=True)(jnp.asarray(a, "complex64"))
    np.testing.assert_allclose(result, _cofactors(a), atol=1e-3)
    assert dv.grad(jnp.linalg.det)(jnp.zeros((0, 0))).shape == (0, 0)
    assert dv.grad(jnp.linalg.det)(jnp.zeros((1, 1))) == 1.0


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("a", [np.eye(3), np.diag([1.0, 2.0, 0.0])])
def test_second_and_third_derivatives_of_determinants(a):
    def minors(m):  # of three rows, by hand
        return sum(
            m[0, i] * (m[1, i - 2] * m[2, i - 1] - m[1, i - 1] * m[2, i - 2]) for i in range(3)
        )

    a = jnp.asarray(a, "float32")
    for derivative in (dv.hessian, lambda f: dv.jacfwd(dv.hessian(f))):
        result, wanted = (dv.jit(derivative(f))(a) for f in (jnp.linalg.det, minors))
        np.testing.assert_allclose(result, wanted, atol=1e-4)
