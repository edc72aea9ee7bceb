"""Reductions of segments and vectors of pytrees, against NumPy's loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import ConcretizationTypeError
from dovetail_jit import jit
from dovetail_numpy import segments
from dovetail_numpy.flatten_util import ravel_pytree

IDS = np.array([2, 0, 2, 5, -1, 3, 0], np.int32)
NAMES = {"sum": (np.add, 0), "prod": (np.multiply, 1), "max": (np.maximum, None),
         "min": (np.minimum, None)}  # fmt: skip


def reference(name: str, x: Any, n: int) -> Any:
    update, start = NAMES[name]
    if start is None:
        info = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        start = (-np.inf if name == "max" else np.inf) if x.dtype.kind == "f" else (
            info.min if name == "max" else info.max)  # fmt: skip
    out = np.full((n, *x.shape[1:]), start, x.dtype)
    for i, row in zip(IDS, x):
        if 0 <= i < n:
            out[i] = update(out[i], row)
    return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
@pytest.mark.parametrize("n", [4, 6, 0])
def test_segments_are_reduced_as_by_a_loop(name: str, dtype: Any, n: int):
    x = np.arange(1, 15).reshape(7, 2).astype(dtype)
    reduce = getattr(segments, f"segment_{name}")
    wanted = reference(name, x, n)
    result = reduce(x, IDS, n)
    np.testing.assert_allclose(result, wanted)
    assert result.dtype == dtype
    np.testing.assert_allclose(jit(reduce, static_argnums=2)(x, IDS, n), wanted)
    np.testing.assert_allclose(reduce(x, IDS, n, bucket_size=3), wanted)


def test_the_number_of_segments_is_found_where_numbers_are_known():
    assert segments.segment_sum(np.ones(7), IDS).shape == (6,)
    assert segments.segment_sum(np.ones(0), np.zeros(0, np.int32)).shape == (0,)
    with pytest.raises(ConcretizationTypeError, match="Pass num_segments"):
        jit(segments.segment_sum)(np.ones(7), IDS)


def test_segments_are_differentiated_and_batched():
    x = np.arange(7.0, dtype=np.float32)
    back = grad(lambda x: (segments.segment_sum(x, IDS, 6) * np.arange(6)).sum())(x)
    np.testing.assert_allclose(back, [2, 0, 2, 5, 0, 3, 0])
    rows = np.stack([x, 2 * x])
    result = vmap(lambda x: segments.segment_max(x, IDS, 6))(rows)
    np.testing.assert_allclose(result, np.stack([reference("max", r, 6) for r in rows]))
    bools = segments.segment_max(np.array([True, False, False]), np.array([0, 1, 1]), 3)
    np.testing.assert_array_equal(bools, [True, False, False])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: segments.segment_sum(np.ones(7), np.ones(7)), "segment_ids must be integers"),
        (lambda: segments.segment_sum(np.ones(3), IDS), "one number for each row of data"),
        (lambda: segments.segment_sum(np.ones(7), IDS, -1), "num_segments must not be negative"),
        (lambda: segments.segment_sum(np.ones(7), IDS, 3, bucket_size=0), "bucket_size must be"),
        (lambda: segments.segment_max(np.ones(7, np.complex64), IDS, 3), "have no order"),
    ],
)
def test_bad_segments(call: Any, said: str):
    with pytest.raises((TypeError, ValueError), match=said) as e:
        call()
    assert "test_segments.py:" in str(e.value)


TREE = {"a": np.arange(6.0, dtype=np.float32).reshape(2, 3), "b": [np.float32(7), np.zeros((0, 4))]}


def test_a_tree_becomes_a_vector_and_back():
    vector, back = ravel_pytree(TREE)
    np.testing.assert_array_equal(vector, [0, 1, 2, 3, 4, 5, 7])
    result = back(2 * vector)
    np.testing.assert_array_equal(result["a"], 2 * TREE["a"])
    assert result["b"][0] == 14 and result["b"][1].shape == (0, 4)


def test_each_leaf_gets_its_element_type_again():
    vector, back = ravel_pytree((np.int32(3), np.float16(0.5), True))
    assert vector.dtype == np.float16
    assert [x.dtype for x in back(vector)] == [np.int32, np.float16, np.bool_]
    assert ravel_pytree([1.0, 2.0])[0].weak_type and not ravel_pytree([1, 2.0])[0].weak_type
    vector, back = ravel_pytree({})
    assert vector.shape == (0,) and back(vector) == {}


def test_the_way_back_leaves_transformed_functions():
    vector, back = jit(ravel_pytree)(TREE)
    np.testing.assert_array_equal(back(vector)["a"], TREE["a"])
    slope = grad(lambda t: (ravel_pytree(t)[0] ** 2).sum())(TREE)
    np.testing.assert_allclose(slope["a"], 2 * TREE["a"])
    slope = grad(lambda v: back(v)["a"][1].sum())(dnp.asarray(vector))
    np.testing.assert_array_equal(slope, [0, 0, 0, 1, 1, 1, 0])


def test_ways_back_of_equal_trees_are_equal():
    back, again = (ravel_pytree({"a": np.ones(n), "b": 1.0})[1] for n in (2, 2))
    assert back == again and hash(back) == hash(again) and back != ravel_pytree(np.ones(3))[1]
    traced = []

    def f(vector, way):
        traced.append(way)
        return way(vector)["a"]

    for compiled in (jit(f), jit(f, static_argnums=1)):
        traced.clear()
        for way in (back, again):
            np.testing.assert_array_equal(compiled(np.arange(3.0), way), [0, 1])
        assert len(traced) == 1


def test_the_way_back_drops_no_imaginary_part_that_was_put_in():
    vector, back = ravel_pytree([1 + 1j, 2.0])
    result = back(vector)  # a warning would be an error
    assert result[1].dtype == np.float32 and result == [1 + 1j, 2.0]


def test_the_way_back_takes_its_own_vector():
    vector, back = ravel_pytree(TREE)
    with pytest.raises(ValueError, match=r"takes a vector of shape \(7,\), got \(3,\)"):
        back(vector[:3])
    _, mixed = ravel_pytree((np.ones(2, np.float32), np.int32(1)))
    with pytest.raises(TypeError, match="takes a vector of dtype float32, got int32"):
        mixed(np.ones(3, np.int32))


def test_one_row_is_there_for_all_numbers():
    numbers = np.array([0, 1, 1])
    result = segments.segment_sum(dnp.array(1.5), numbers, 3)
    np.testing.assert_array_equal(result, [1.5, 3.0, 0.0])
    np.testing.assert_array_equal(
        segments.segment_max(dnp.ones((1, 2)), numbers, 2), np.ones((2, 2))
    )


@pytest.mark.parametrize(("mode", "expected"), [("clip", [3, 3, 4]), ("drop", [2, 3, 0])])
def test_numbers_below_0_do_not_count_from_the_end_in_any_mode(
    mode: str, expected: list[int]
) -> None:
    result = segments.segment_sum(np.arange(1.0, 5), np.array([-1, 0, 1, 7]), 3, mode=mode)
    np.testing.assert_array_equal(result, expected)


def test_vectors_of_another_dtype_where_leaves_have_one() -> None:
    _, back = ravel_pytree({"a": np.ones(2, np.float32), "b": np.float32(1)})
    result = back(np.arange(3, dtype=np.int32))
    assert result["a"].dtype == result["b"].dtype == np.int32 and result["a"].tolist() == [0, 1]
