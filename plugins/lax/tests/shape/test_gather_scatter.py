"""gather, index_take and the scatter family: modes, fill values, overlap, functions of elements."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_backends.testing import evaluated_by_reference
from dovetail_batching import vmap
from dovetail_core import ShapedArray, stage_closed
from dovetail_lax import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from dovetail_testing import assert_same

M = np.arange(12, dtype=np.float32).reshape(3, 4)
ROWS = GatherDimensionNumbers((1,), (0,), (0,))
INTO_ROWS = ScatterDimensionNumbers((1,), (0,), (0,))
OUTSIDE = np.array([[2], [-1], [7]], np.int32)


def same(result, expected):
    result = np.asarray(result)
    assert_same(result, np.asarray(expected, result.dtype))


def rows(x, mode=None, **more):
    return lax.gather(x, OUTSIDE, ROWS, (1, x.shape[1]), mode=mode, **more)


def test_gather_clips_fills_and_multiplies_by_one_hot():
    same(rows(M, "clip"), M[[2, 0, 2]])
    nan = np.full(4, np.nan)
    same(rows(M, "fill"), [M[2], nan, nan])
    same(rows(M, GatherScatterMode.FILL_OR_DROP, fill_value=-1), [M[2], [-1] * 4, [-1] * 4])
    same(rows(M, "one_hot"), [M[2], [0] * 4, [0] * 4])


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        (np.int32, -(2**31)),
        (np.uint8, 255),
        (np.bool_, True),
        (np.complex64, np.nan),
        (ml_dtypes.bfloat16, np.nan),
    ],
)
def test_default_fill_values(dtype, fill):
    same(rows(np.zeros((3, 1), dtype), "fill")[1], [fill])


def test_programs_with_nan_fill_values_are_equal():
    aval = ShapedArray((3, 4), np.float32)

    def program(value):
        return stage_closed(lambda x: [rows(x, "fill", fill_value=value)], [aval]).jaxpr

    assert program(float("nan")) == program(np.float32("nan")) == program(None)


def test_gather_of_boxes_with_the_places_between_their_axes():
    numbers = GatherDimensionNumbers((0, 2), (), (1, 0))
    places = np.array([[0, 1], [2, 0]], np.int32)  # (column, row)
    result = lax.gather(M, places, numbers, (2, 2))
    same(result, np.stack([M[1:3, 0:2], M[0:2, 2:4]], 1))


def test_gather_with_batching_dims():
    numbers = GatherDimensionNumbers((1,), (), (1,), (0,), (0,))
    result = lax.gather(M, np.array([[0], [2], [1]]), numbers, (1, 2))
    same(result, [M[0, 0:2], M[1, 2:4], M[2, 1:3]])


def test_index_take_wraps_around():
    same(lax.index_take(M, (np.array([-1, 4, 2]),), (1,)), M[:, [-1, 0, 2]].T)
    same(lax.index_take(M, (np.array([1, -1]), np.array([0, 2])), (1, 0)), [M[0, 1], M[2, -1]])
    same(lax.index_take(M, (np.array([1, 5], np.uint8),), (0,)), M[[1, 2]])


UPDATES = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], np.float32)
FAMILY = {
    lax.scatter: lambda x, i, u: x.__setitem__(i, u),
    lax.scatter_add: lambda x, i, u: np.add.at(x, i, u),
    lax.scatter_sub: lambda x, i, u: np.subtract.at(x, i, u),
    lax.scatter_mul: lambda x, i, u: np.multiply.at(x, i, u),
    lax.scatter_min: lambda x, i, u: np.minimum.at(x, i, u),
    lax.scatter_max: lambda x, i, u: np.maximum.at(x, i, u),
}


@pytest.mark.parametrize("function", FAMILY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.complex64])
def test_scatter_drops_and_clips(function, dtype):
    x, u = M.astype(dtype), UPDATES.astype(dtype)
    for mode, kept, places in (("drop", [0], [2]), ("clip", [0, 1, 2], [2, 0, 2])):
        expected = x.copy()
        for k, place in zip(kept, places):
            FAMILY[function](expected, [place], u[k])
        same(function(x, OUTSIDE, u, INTO_ROWS, mode=mode), expected)


def test_scatter_of_booleans():
    x = np.array([True, False, False])
    points = ScatterDimensionNumbers((), (0,), (0,))
    at, u = np.array([[0], [1]]), np.array([False, True])
    same(lax.scatter_min(x, at, u, points), [False, False, False])
    same(lax.scatter_max(x, at, u, points), [True, True, False])
    same(lax.scatter(x, at, u, points), [False, True, False])


def test_scatter_apply_repeats_where_windows_overlap():
    at = np.array([[0], [2], [0]])

    def double(v):
        return lax.mul(v, np.float32(2))

    result = lax.scatter_apply(M, at, double, INTO_ROWS, update_shape=(3, 4))
    same(result, M * np.array([[4], [1], [2]]))


def test_scatter_apply_at_unique_places_is_differentiable():
    at = np.array([[0], [7]])
    factor = np.float32(3)

    def total(x, k):
        y = lax.scatter_apply(
            x, at, lambda v: lax.mul(v, lax.mul(v, k)), INTO_ROWS, update_shape=(2, 4),
            unique_indices=True,
        )  # fmt: skip
        return lax.reduce_sum(y, (0, 1))

    expected = np.ones_like(M)
    expected[0] = 2 * factor * M[0]
    same(grad(total)(M, factor), expected)
    same(grad(total, argnums=1)(M, factor), (M[0] ** 2).sum())


def test_large_unsigned_indices_are_outside():
    huge = np.array([[2**32 - 1]], np.uint32)
    same(lax.scatter(M, huge, UPDATES[:1], INTO_ROWS), M)
    same(lax.gather(M, huge, ROWS, (1, 4), mode="fill", fill_value=0), np.zeros((1, 4)))
    same(lax.gather(M, huge, ROWS, (1, 4), mode="clip"), M[2:])


def test_promises_do_not_survive_what_breaks_them():
    avals = [ShapedArray((3, 4), np.float32), ShapedArray((5, 2, 1), np.int32)]

    def one(x, i):
        return lax.gather(
            x, i, ROWS, (1, 4), unique_indices=True, indices_are_sorted=True, mode="clip"
        )

    program = stage_closed(lambda x, i: [vmap(one, in_axes=(None, 0))(x, i)], avals)
    params = program.jaxpr.eqns[-1].params
    assert not params["unique_indices"]
    assert not params["indices_are_sorted"]


def test_modes_by_name():
    assert GatherScatterMode.from_any(None) is GatherScatterMode.FILL_OR_DROP
    assert GatherScatterMode.from_any("clip") is GatherScatterMode.CLIP
    assert GatherScatterMode.from_any(GatherScatterMode.ONE_HOT) is GatherScatterMode.ONE_HOT


@pytest.mark.parametrize("mode", ["clip", "drop"])
@pytest.mark.parametrize("by_numpy", [True, False])
def test_nothing_is_written_into_an_empty_operand(mode: str, by_numpy: bool) -> None:
    """A place before its beginning is none either."""
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    places = np.array([[-1], [0], [1]], np.int32)
    with evaluated_by_reference(by_numpy):
        result = lax.scatter_add(
            np.zeros(0, np.float32), places, np.ones(3, np.float32), numbers, mode=mode
        )
    assert result.shape == (0,)
