"""Reductions and cumulative operations: values, ties, and the general forms."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jvp, vjp
from dovetail_batching import vmap
from dovetail_core import ShapedArray, enable_x64, stage, stage_closed, typeof
from dovetail_jit import jit
from dovetail_testing import assert_close, assert_same

X = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
TIES = np.array([[1, 1, 0, 1], [2, 2, 2, 2], [0, 3, 3, 1]], np.float32)


def rows_of(f, *avals):
    """Names of the rows that a function binds."""
    return [e.primitive.name for e in stage(lambda *xs: [f(*xs)], avals)[0].eqns]


@pytest.mark.parametrize("axes", [(0,), (1, 2), (2, 0), (), (0, 1, 2)])
def test_reductions_agree_with_numpy(axes):
    assert_close(lax.reduce_sum(X, axes), X.sum(axes))
    assert_close(lax.reduce_prod(X, axes), X.prod(axes))
    assert_same(lax.reduce_max(X, axes), X.max(axes))
    assert_same(lax.reduce_min(X, axes), X.min(axes))
    assert_same(lax.reduce_or(X > 0, axes), (X > 0).any(axes))
    assert_same(lax.reduce_and(X > 0, axes), (X > 0).all(axes))
    bits = (X * 10).astype(np.int32)
    assert_same(lax.reduce_xor(bits, axes), np.bitwise_xor.reduce(bits, axes))


def test_integers_wrap_around_in_their_own_type():
    x = np.full((3,), 100, np.int8)
    assert_same(lax.reduce_sum(x, (0,)), np.int8(300 - 256))
    assert_same(lax.reduce_prod(x, (0,)), np.array(100**3, np.int64).astype(np.int8))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_are_summed_and_multiplied_in_a_wider_type(name, backend):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    n = int(3 * 2 ** (ml_dtypes.finfo(dtype).nmant + 1))  # n / 3 + 1 is n / 3 in this type
    for shape, axes in (((n,), (0,)), ((2, n), (1,)), ((n, 2), (0,)), ((n // 4, 4), (0, 1))):
        add = jit(lambda x, axes=axes: lax.reduce_sum(x, axes), backend=backend)
        total = add(np.ones(shape, dtype))
        assert_same(total, np.full(total.shape, n, dtype))
    x = np.full(40, 1 + 2.0 ** -ml_dtypes.finfo(dtype).nmant, dtype)
    product = jit(lambda x: lax.reduce_prod(x, (0,)), backend=backend)(x)
    assert_same(product, np.prod(x.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("float32", -np.inf, np.inf), ("int8", -128, 127), ("uint8", 0, 255), ("bool", False, True),
     ("float8_e4m3fn", -448.0, 448.0)],
)  # fmt: skip
def test_nothing_reduces_to_the_identity(dtype, low, high):
    empty = np.zeros((0, 2), getattr(ml_dtypes, dtype, dtype))
    assert np.asarray(lax.reduce_max(empty, (0,))).astype(float).tolist() == [low, low]
    assert np.asarray(lax.reduce_min(empty, (0,))).astype(float).tolist() == [high, high]


def test_complex_numbers_are_ordered_by_real_and_then_by_imaginary_part():
    x = np.array([1 + 2j, 3 - 1j, 3 + 4j, 2 + 9j], np.complex64)
    assert lax.reduce_max(x, (0,)) == 3 + 4j
    assert lax.reduce_min(x[1:], (0,)) == 2 + 9j


def test_nan_wins_extrema_and_their_places():
    x = np.array([1, np.nan, 3, np.nan], np.float32)
    assert np.isnan(lax.reduce_max(x, (0,))) and np.isnan(lax.reduce_min(x, (0,)))
    assert int(lax.argmax(x, 0, np.int32)) == int(lax.argmin(x, 0, np.int32)) == 1


def test_the_first_of_equal_extrema_is_found():
    assert_same(lax.argmax(TIES, 1, np.uint8), np.array([0, 0, 1], np.uint8))
    assert_same(lax.argmin(TIES, 1, np.int32), np.array([2, 0, 0], np.int32))
    assert_same(vmap(lambda x: lax.argmax(x, 0, np.int32))(TIES), TIES.argmax(1).astype(np.int32))
    with enable_x64(True):
        assert lax.argmax(TIES, 1, np.int64).dtype == np.int64
    with pytest.warns(UserWarning, match="without 64-bit types it is int32"):
        assert lax.argmax(TIES, 1, np.int64).dtype == np.int32


def test_ties_share_the_gradient_of_an_extremum():
    result = grad(lambda x: lax.reduce_sum(lax.reduce_max(x, (1,)), (0,)))(TIES)
    third = np.float32(1 / 3)
    expected = [[third, third, 0, third], [0.25] * 4, [0, 0.5, 0.5, 0]]
    assert_close(result, np.array(expected, np.float32))


def test_the_gradient_of_a_product_is_right_where_factors_are_zero():
    x = np.array([[0, 2, 3], [0, 0, 4], [1, 2, 3]], np.float32)
    result = grad(lambda x: lax.reduce_sum(lax.reduce_prod(x, (1,)), (0,)))(x)
    assert_same(result, np.array([[6, 0, 0], [0, 0, 0], [6, 3, 2]], np.float32))
    cumulative = vjp(lambda x: lax.cumprod(x, axis=1), x)[1](np.ones_like(x))[0]
    assert_same(cumulative, np.array([[9, 0, 0], [1, 0, 0], [9, 4, 2]], np.float32))


def test_monoids_become_the_named_reductions():
    f32, flags = ShapedArray((3,), "float32"), ShapedArray((3,), "bool")
    for f, init, name in [
        (lax.add, 0.0, "reduce_sum"), (lax.mul, 1.0, "reduce_prod"), (lax.add, 0, "reduce_sum"),
        (lax.max, -np.inf, "reduce_max"), (lax.min, np.inf, "reduce_min"),
    ]:  # fmt: skip
        assert rows_of(lambda x, f=f, init=init: lax.reduce(x, init, f, (0,)), f32) == [name]
    assert rows_of(lambda x: lax.reduce(x, True, lax.bitwise_and, (0,)), flags) == ["reduce_and"]
    # Without its identity an operation is a program like any other.
    assert rows_of(lambda x: lax.reduce(x, 1.0, lax.add, (0,)), f32) == ["reduce"]
    assert rows_of(lambda x: lax.reduce(x, 0.0, lax.max, (0,)), f32) == ["reduce"]


def test_reduction_of_a_tree_by_a_program():
    places = np.broadcast_to(np.arange(5, dtype=np.int32), X.shape)

    def better(a, b):
        first = lax.ge(a[0], b[0])
        return lax.select(first, a[0], b[0]), lax.select(first, a[1], b[1])

    value, place = lax.reduce((X, places), (np.float32(-np.inf), np.int32(-1)), better, (2,))
    assert_same(value, X.max(2))
    assert_same(place, X.argmax(2).astype(np.int32))


def test_programs_are_differentiated_and_batched():
    def product(x):
        return lax.reduce(x, 1.0, lambda a, b: lax.mul(a, b), (1,))

    assert_close(product(X), X.prod(1))
    value, tangent = jvp(product, (X,), (np.cos(X),))
    assert_same(value, product(X))
    assert_close(tangent, (X.prod(1, keepdims=True) / X * np.cos(X)).sum(1))
    assert_close(vmap(lambda x: lax.reduce(x, 1.0, lambda a, b: lax.mul(a, b), (0,)))(X), X.prod(1))
    inits = np.array([1, 2, 3], np.float32)
    assert_close(
        vmap(lambda x, i: lax.reduce(x, i, lambda a, b: lax.mul(a, b), (0,)))(X, inits),
        X.prod(1) * inits[:, None],
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("f", "oracle"),
    [(lax.cumsum, np.cumsum), (lax.cumprod, np.cumprod), (lax.cummax, np.maximum.accumulate),
     (lax.cummin, np.minimum.accumulate), (lax.cumlogsumexp, np.logaddexp.accumulate)],
)  # fmt: skip
def test_cumulative_operations_agree_with_numpy(f, oracle, reverse):
    for axis in range(3):
        given = np.flip(X, axis) if reverse else X
        expected = oracle(given, axis=axis)
        expected = np.flip(expected, axis) if reverse else expected
        assert_close(f(X, axis=axis, reverse=reverse), expected)


def test_the_transpose_of_a_running_sum_runs_backwards():
    (result,) = vjp(lambda x: lax.cumsum(x, axis=1), X)[1](np.cos(X))
    assert_close(result, np.flip(np.cumsum(np.flip(np.cos(X), 1), 1), 1))


def test_log_sum_exps_neither_overflow_nor_lose_infinities():
    x = np.array([1000, 1000, -np.inf, 999], np.float32)
    expected = np.logaddexp.accumulate(x.astype(np.float64)).astype(np.float32)
    assert_close(lax.cumlogsumexp(x), expected)
    result = vjp(lambda x: lax.cumlogsumexp(x), x)[1](np.array([0, 0, 0, 1], np.float32))[0]
    shares = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
    assert_close(result, shares)


def test_associative_scan_of_a_function_that_does_not_commute():
    m = np.random.default_rng(1).normal(size=(7, 2, 2)).astype(np.float32)
    expected = [m[0]]
    for a in m[1:]:
        expected.append(expected[-1] @ a)
    scan = lax.associative_scan  # sums of products of entries about 1
    assert_close(scan(lax.batch_matmul, m), np.stack(expected), scale=1.0)
    backwards = [m[-1]]
    for a in m[-2::-1]:
        backwards.append(backwards[-1] @ a)
    assert_close(scan(lax.batch_matmul, m, reverse=True), np.stack(backwards[::-1]), scale=1.0)


def test_associative_scan_of_a_tree_along_the_last_axis():
    def affine(first, second):
        return lax.mul(second[0], first[0]), lax.add(lax.mul(second[0], first[1]), second[1])

    a, b = X, np.cos(X)
    scale, offset = lax.associative_scan(affine, (a, b), axis=-1)
    state = np.zeros((3, 4), np.float32)
    for i in range(5):
        state = a[..., i] * state + b[..., i]
        assert_close(np.asarray(offset)[..., i], state)
    assert_close(scale, np.cumprod(a, -1))
    flags = X > 0.5
    result = lax.associative_scan(lax.bitwise_or, flags, axis=1)
    assert_same(result, np.logical_or.accumulate(flags, 1))


@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: lax.reduce_sum(x, (i,)),
        lambda x, i: lax.reduce(x, np.float32(0), lax.add, (i,)),
        lambda x, i: lax.argmax(x, i, np.int32),
        lambda x, i: lax.cumsum(x, i),
        lambda x, i: lax.sort(x, dimension=i),
    ],
)
def test_numpys_integers_do_not_enter_programs(f):
    program = stage_closed(lambda x: [f(x, np.int64(1))], [typeof(np.ones((2, 3), np.float32))])
    (eqn,) = program.eqns
    assert "np." not in repr({k: v for k, v in eqn.params.items() if k != "index_dtype"})
