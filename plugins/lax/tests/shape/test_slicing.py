"""Slices at fixed and computed places, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import ShapedArray, stage_closed
from dovetail_jit import jit

M = np.arange(12, dtype=np.float32).reshape(3, 4)


def same(result, expected):
    np.testing.assert_array_equal(np.asarray(result), expected)


def test_slice():
    same(lax.slice(M, (0, 1), (3, 4)), M[:, 1:])
    same(lax.slice(M, (0, 1), (3, 4), (2, 2)), M[::2, 1::2])
    same(lax.slice(M, (1, 4), (1, 4)), np.zeros((0, 0), np.float32))


def test_slice_in_dim():
    same(lax.slice_in_dim(M, -3, -1, axis=-1), M[:, -3:-1])
    same(lax.slice_in_dim(M, None, None, 2), M[::2])


def test_index_in_dim():
    same(lax.index_in_dim(M, -1, 1), M[:, -1:])
    same(lax.index_in_dim(M, 1, keepdims=False), M[1])


STARTS = [-9, -5, -4, -1, 0, 1, 3, 9]


@pytest.mark.parametrize("kind", [int, np.int32, np.int8, "traced"])
@pytest.mark.parametrize("start", STARTS)
def test_dynamic_slice_counts_from_the_end_and_stays_inside(start, kind):
    at = start + 4 if start < 0 else start
    expected = M[:, min(max(at, 0), 2) :][:, :2]
    if kind == "traced":
        f = jit(lambda i: lax.dynamic_slice_in_dim(M, i, 2, 1))
        same(f(np.int32(start)), expected)
    else:
        same(lax.dynamic_slice(M, (0, kind(start)), (3, 2)), expected)


@pytest.mark.parametrize("start", STARTS)
def test_dynamic_update_slice_counts_from_the_end_and_stays_inside(start):
    at = min(max(start + 4 if start < 0 else start, 0), 2)
    expected = M.copy()
    expected[:, at : at + 2] = -1
    update = np.full((3, 2), -1, np.float32)
    same(lax.dynamic_update_slice_in_dim(M, update, np.int32(start), 1), expected)
    same(jit(lambda i: lax.dynamic_update_slice(M, update, i))(np.array([0, start])), expected)


def test_negative_starts_can_be_taken_literally():
    same(lax.dynamic_slice(M, (np.uint32(1), np.uint32(7)), (2, 2)), M[1:, 2:])
    f = jit(lambda i: lax.dynamic_slice(M, (i, i), (2, 2), allow_negative_indices=(True, False)))
    same(f(np.int32(-1)), M[1:, :2])


def test_dynamic_index():
    same(lax.dynamic_index_in_dim(M, np.int32(-2), 1), M[:, 2:3])
    same(lax.dynamic_index_in_dim(M, np.int32(7), 0, keepdims=False), M[2])
    expected = M.copy()
    expected[1] = 0
    same(lax.dynamic_update_index_in_dim(M, M[0] * 0, np.int32(1), 0), expected)
    same(lax.dynamic_update_index_in_dim(M, M[:1] * 0, np.int32(1), 0), expected)
    same(lax.dynamic_update_index_in_dim(M[0], 7, -1, 0), [0, 1, 2, 7])


def test_an_index_dtype_may_be_too_narrow_for_the_axis():
    long = np.arange(1000)
    f = jit(lambda i: lax.dynamic_slice(long, (i,), (2,)))
    same(f(np.int8(-1)), [998, 999])
    wide = np.arange(2000).reshape(2, 1000)
    g = jit(lambda i: lax.dynamic_slice(wide, (i, 900), (1, 1)))
    same(g(np.uint8(1)), [[1900]])


def test_a_known_start_costs_no_operation():
    aval = ShapedArray((3, 4), np.float32)
    program = stage_closed(lambda x: [lax.dynamic_slice(x, (-1, 1), (1, 2))], [aval])
    assert [e.primitive.name for e in program.jaxpr.eqns] == ["dynamic_slice"]


def test_batched_starts():
    places = np.array([0, -1, 5, 2], np.int32)

    def read(x, i):
        return lax.dynamic_slice(x, (0, i), (3, 2))

    def write(x, i):
        return lax.dynamic_update_slice(x, np.zeros((3, 2), np.float32), (0, i))

    for f in (read, write):
        same(vmap(f, in_axes=(None, 0))(M, places), np.stack([f(M, i) for i in places]))
        many = np.stack([M, M + 1, M + 2, M + 3], 2)
        rows = [f(many[:, :, k], i) for k, i in enumerate(places)]
        same(vmap(f, in_axes=(2, 0))(many, places), np.stack(rows))
