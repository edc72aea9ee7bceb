"""Sorting and the largest elements: NaN, zeros, ties, several keys, derivatives."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import vjp
from dovetail_batching import vmap
from dovetail_core import ShapedArray, dce_jaxpr, stage
from dovetail_testing import assert_close, assert_same

RNG = np.random.default_rng(0)
X = RNG.permutation(60).reshape(3, 4, 5).astype(np.float32)
NAN, INF = np.nan, np.inf
AWKWARD = np.array([1, NAN, 3, -NAN, 0, -0.0, -INF, INF], np.float32)


@pytest.mark.parametrize("dimension", [0, 1, 2, -1, -3])
def test_one_array_is_sorted_along_any_axis(dimension):
    assert_same(lax.sort(X, dimension=dimension), np.sort(X, dimension))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "float16", ml_dtypes.bfloat16])
def test_all_real_types_are_sorted(dtype):
    x = (X - 20).astype(dtype)
    assert_same(lax.sort(x), np.sort(x.astype(np.float32), -1).astype(dtype))


def test_nan_comes_last_and_zeros_are_equal():
    places = np.arange(8, dtype=np.int32)
    values, order = lax.sort((AWKWARD, places), num_keys=1)
    assert np.asarray(order).tolist() == [6, 4, 5, 0, 2, 7, 1, 3]
    assert np.signbit(np.asarray(values))[1:3].tolist() == [False, True]


def test_complex_numbers_are_sorted_by_parts():
    x = np.array([1 + 1j, complex(NAN, 0), 1 + 0j, complex(0, NAN), 2 - 1j, 1j], np.complex64)
    result = np.asarray(lax.sort((x, np.arange(6, dtype=np.int32)))[1])
    assert result.tolist() == np.argsort(x, kind="stable").tolist() == [5, 2, 0, 4, 3, 1]


def test_several_keys_order_lexicographically_and_ties_stay():
    a = np.array([1, 0, 1, 0, 1], np.int32)
    b = np.array([2, 5, 2, 5, 1], np.float32)
    c = np.arange(5, dtype=np.int32)
    result = [np.asarray(x).tolist() for x in lax.sort((a, b, c), num_keys=2)]
    assert result == [[0, 0, 1, 1, 1], [5, 5, 1, 2, 2], [1, 3, 4, 0, 2]]
    pair = [np.asarray(x).tolist() for x in lax.sort_key_val(b, c)]
    assert pair == [[1, 2, 2, 5, 5], [4, 0, 2, 1, 3]]


def test_a_list_gives_a_tuple_and_an_array_an_array():
    assert isinstance(lax.sort([X]), tuple)
    assert np.shape(lax.sort(X)) == X.shape


def test_tangents_follow_their_elements():
    weights = np.cos(X)
    for f, order in (
        (lambda x: lax.sort(x, dimension=1), np.argsort(X, 1)),
        (lambda x: lax.top_k(x, 2, axis=1)[0], np.argsort(-X, 1)[:, :2]),
    ):
        ct = np.take_along_axis(weights, order, 1)
        (result,) = vjp(f, X)[1](ct)
        expected = np.zeros_like(X)
        np.put_along_axis(expected, order, ct, 1)
        assert_close(result, expected)


def test_sorts_are_batched():
    assert_same(vmap(lambda x: lax.sort(x, dimension=0), in_axes=2, out_axes=2)(X), np.sort(X, 0))
    keys = X[0]
    result = vmap(lambda v: lax.sort((keys, v), dimension=1)[1])(X)
    assert_same(result, np.take_along_axis(X, np.argsort(keys, 1)[None].repeat(3, 0), 2))


def test_arrays_sorted_along_for_nothing_are_left_out():
    aval = ShapedArray((4,), "float32")
    jaxpr, _ = stage(lambda *xs: list(lax.sort(xs, num_keys=1)), [aval] * 3)
    reduced, used = dce_jaxpr(jaxpr, [False, True, False])
    assert used == [True, True, False]
    assert len(reduced.eqns[0].invars) == 2


def test_the_largest_elements_and_their_places():
    values, places = lax.top_k(X, 3, axis=1)
    order = np.argsort(-X, 1, kind="stable")[:, :3]
    assert_same(values, np.take_along_axis(X, order, 1))
    assert_same(places, order.astype(np.int32))
    assert [np.shape(v) for v in lax.top_k(X, 0)] == [(3, 4, 0)] * 2


def test_nan_is_the_largest_and_the_first_of_equals_comes_first():
    places = np.asarray(lax.top_k(AWKWARD, 7)[1])
    assert places.tolist() == [1, 7, 2, 0, 4, 5, 6]
    assert np.asarray(lax.top_k(np.array([3, 1, 3, 3], np.int32), 3)[1]).tolist() == [0, 2, 3]


@pytest.mark.parametrize("aggregate", [True, False])
def test_approximate_answers_are_exact_here(aggregate):
    count = 2 if aggregate else 5
    largest, at = lax.approx_max_k(X, 2, aggregate_to_topk=aggregate)
    assert_same(largest, -np.sort(-X, -1)[..., :count])
    assert_same(np.take_along_axis(X, np.asarray(at), -1), np.asarray(largest))
    smallest, _ = lax.approx_min_k(X, 2, reduction_dimension=1)
    assert_same(smallest, np.sort(X, 1)[:, :2])
