"""Ragged contractions against loops over groups, and scaled ones against products of floats."""

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

RNG = np.random.default_rng(0)


def rows_by_group(lhs, rhs, sizes):
    out, at = np.zeros((len(lhs), rhs.shape[-1])), 0
    for matrix, size in zip(rhs, sizes):
        out[at : at + size] = lhs[at : at + size] @ matrix
        at += size
    return out


@pytest.fixture(autouse=True)
def _wide():
    with enable_x64():
        yield


@pytest.mark.parametrize("sizes", [(2, 3), (0, 5), (1, 1), (5, 0)])
def test_rows_meet_the_matrix_of_their_group(sizes):
    lhs, rhs = RNG.normal(size=(5, 3)), RNG.normal(size=(2, 3, 4))
    expected = rows_by_group(lhs, rhs, sizes)
    for f in (lax.ragged_dot, jit(lax.ragged_dot)):
        np.testing.assert_allclose(f(lhs, rhs, np.array(sizes)), expected, atol=1e-12)


def test_groups_of_a_summed_axis_have_sums_of_their_own():
    lhs, rhs = RNG.normal(size=(6, 2)), RNG.normal(size=(6, 3))
    numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
    result = lax.ragged_dot_general(lhs, rhs, np.array([1, 0, 4]), numbers)
    parts = [slice(0, 1), slice(1, 1), slice(1, 5)]
    np.testing.assert_allclose(result, [lhs[p].T @ rhs[p] for p in parts], atol=1e-12)


def test_a_ragged_batch_axis_makes_no_difference():
    lhs, rhs = RNG.normal(size=(4, 2, 3)), RNG.normal(size=(4, 3, 5))
    numbers = lax.RaggedDotDimensionNumbers((((2,), (1,)), ((0,), (0,))), (0,), ())
    result = lax.ragged_dot_general(lhs, rhs, np.array([1, 2]), numbers)
    np.testing.assert_allclose(result, lhs @ rhs, atol=1e-12)


def test_sizes_may_differ_along_a_batch_axis():
    lhs, rhs = RNG.normal(size=(3, 5, 2)), RNG.normal(size=(2, 3, 2, 4))
    numbers = lax.RaggedDotDimensionNumbers((((2,), (2,)), ((0,), (1,))), (1,), (0,))
    sizes = np.array([[2, 3], [5, 0], [0, 1]])
    result = lax.ragged_dot_general(lhs, rhs, sizes, numbers)
    expected = [rows_by_group(lhs[i], rhs[:, i], sizes[i]) for i in range(3)]
    np.testing.assert_allclose(result, expected, atol=1e-12)
    mapped = vmap(lax.ragged_dot, (0, 1, 0))(lhs, rhs, sizes)
    np.testing.assert_allclose(mapped, expected, atol=1e-12)


def test_derivatives():
    lhs, rhs, sizes = RNG.normal(size=(5, 3)), RNG.normal(size=(2, 3, 4)), np.array([2, 2])
    weights = RNG.normal(size=(5, 4))

    def f(x, y):
        return (lax.ragged_dot(x, y, sizes) * weights).sum()

    left, right = grad(f, (0, 1))(lhs, rhs)
    np.testing.assert_allclose(left[:2], weights[:2] @ rhs[0].T, atol=1e-12)
    np.testing.assert_allclose(left[4], np.zeros(3))
    np.testing.assert_allclose(right[1], lhs[2:4].T @ weights[2:4], atol=1e-12)


def test_what_is_wrong_is_said():
    lhs, rhs = np.ones((5, 3)), np.ones((2, 3, 4))
    with pytest.raises(TypeError, match=r"got 3 group_sizes for rhs f64\[2,3,4\], whose"):
        lax.ragged_dot(lhs, rhs, np.ones(3, int))
    with pytest.raises(TypeError, match=r"got group_sizes f64\[2\]: sizes are integers at"):
        lax.ragged_dot(lhs, rhs, np.ones(2))
    with pytest.raises(NotImplementedError, match=r"group_offset is not offered at"):
        lax.ragged_dot(lhs, rhs, np.ones(2, int), group_offset=np.zeros(1, int))
    numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), ())
    with pytest.raises(TypeError, match=r"one group axis where the ragged axis of lhs is free"):
        lax.ragged_dot_general(lhs, rhs, np.ones(2, int), numbers)
    with pytest.raises(TypeError, match="they are a RaggedDotDimensionNumbers"):
        lax.ragged_dot_general(lhs, rhs, np.ones(2, int), 3)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_scaled_products(batch):
    x = dnp.asarray(RNG.normal(size=(*batch, 4, 64)), "float8_e4m3fn")
    y = dnp.asarray(RNG.normal(size=(*batch, 64, 3)), "float8_e4m3fn")
    s = dnp.asarray(2.0 ** RNG.integers(-2, 3, (*batch, 4, 2)), "float8_e8m0fnu")
    t = dnp.asarray(2.0 ** RNG.integers(-2, 3, (*batch, 2, 3)), "float8_e8m0fnu")
    wide = [np.asarray(v, float) for v in (x, y, s, t)]
    expected = (wide[0] * np.repeat(wide[2], 32, -1)) @ (wide[1] * np.repeat(wide[3], 32, -2))
    f = jit(lambda x, y, s, t: lax.scaled_dot(
        x, y, lhs_scale=s, rhs_scale=t, preferred_element_type="float32"
    ))  # fmt: skip
    np.testing.assert_allclose(f(x, y, s, t), expected, rtol=1e-5, atol=1e-4)
    assert '"xla.scaled_dot"' in f.lower(x, y, s, t).as_text()
    plain = lax.scaled_dot(x, y, preferred_element_type="float32")
    np.testing.assert_allclose(plain, wide[0] @ wide[1], rtol=1e-5, atol=1e-4)
    assert lax.scaled_dot(x, y).dtype == dnp.bfloat16
    with pytest.raises(TypeError, match=r"got lhs_scale .* it has the operand's size along each"):
        lax.scaled_dot(x, y, lhs_scale=dnp.ones((*batch, 4, 3), "float8_e8m0fnu"))
