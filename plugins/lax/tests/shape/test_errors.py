"""What is said of operands, axes and shapes that do not fit: the thing, the place, the remedy."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import TracerIntegerConversionError
from dovetail_jit import jit
from dovetail_lax import GatherDimensionNumbers, ScatterDimensionNumbers

M = np.ones((3, 4), np.float32)
V = np.ones(3, np.float32)
INTS = np.ones(3, np.int32)
AT = np.zeros((2, 1), np.int32)
ROWS = GatherDimensionNumbers((1,), (0,), (0,))
INTO_ROWS = ScatterDimensionNumbers((1,), (0,), (0,))


def rows(dn, sizes=(1, 4), at=AT, **more):
    return lax.gather(M, at, dn, sizes, **more)


WRONG = [
    (lambda: lax.reshape(M, (5,)), TypeError,
     r"lax.reshape got an operand of shape \(3, 4\) and new_sizes \(5,\) at .*test_errors.*: 12 "
     r"elements do not fit. Give sizes whose product is 12"),
    (lambda: lax.concatenate("O", 0), TypeError, "'O' of type str is not a valid array"),
    (lambda: lax.sort((M, M), num_keys=[1]), TypeError, "num_keys must be an integer, got"),
    (lambda: lax.reshape(M, (-1, 3)), TypeError, r"must not be negative.*dovetail.numpy.reshape"),
    (lambda: lax.reshape(M, "ab"), TypeError, r"lax.reshape: new_sizes must be a sequence of int"),
    (lambda: lax.reshape(M, (12,), (0, 0)), TypeError, r"permutation \(0, 0\).*each of 0, 1 once"),
    (lambda: lax.reshape([1, 2], (2,)), TypeError, r"\[1, 2\] of type list is not a valid array"),
    (lambda: lax.reshape(M, (12,), out_sharding=1), TypeError, "out_sharding must be a"),
    (lambda: lax.broadcast(M, (2,), out_sharding=1), TypeError, "out_sharding must be a"),
    (lambda: lax.transpose(M, (0,)), TypeError, r"must be a permutation of the axes"),
    (lambda: lax.transpose(M, (0, -3)), ValueError, r"-3 is out of bounds.*2 axes at .*test_err"),
    (lambda: lax.broadcast_in_dim(M, (5, 4), (0, 1)), TypeError, r"size 1 or the size of the axis"),
    (lambda: lax.broadcast_in_dim(M, (4, 3), (1, 0)), TypeError, r"must increase"),
    (lambda: lax.broadcast_in_dim(M, (4, 3), (1,)), TypeError, r"each of the operand's 2 axes"),
    (lambda: lax.broadcast_in_dim(V, (3, -1), (0,)), TypeError, r"sizes must not be negative"),
    (lambda: lax.broadcast_shapes((3, 2), (1, 4)), ValueError, r"\[2, 4\] meet"),
    (lambda: lax.broadcast_like(V, M), ValueError, r"shapes for broadcasting: \(3,\), \(3, 4\)"),
    (lambda: lax.broadcast_like(M, V[:1]), ValueError, r"\(3, 4\) does not broadcast to \(1,"),
    (lambda: lax.collapse(M, 1, 0), ValueError, r"from 1 to 0 of an operand of shape \(3, 4\)"),
    (lambda: lax.squeeze(M, (0,)), ValueError, r"another size than 1"),
    (lambda: lax.squeeze(M[:1], (0, -2)), ValueError, r"an axis is repeated"),
    (lambda: lax.squeeze(M, (5,)), ValueError, r"lax.squeeze: dimensions 5 is out of bounds"),
    (lambda: lax.expand_dims(M, (0, 0)), ValueError, r"an axis is repeated"),
    (lambda: lax.rev(M, (0, 0)), ValueError, r"lax.rev got dimensions \(0, 0\).*repeated"),
    (lambda: lax.concatenate([], 0), ValueError, r"needs at least one array"),
    (lambda: lax.concatenate([V, INTS], 0), TypeError, r"dtypes float32, int32.*dovetail.numpy"),
    (lambda: lax.concatenate([V, M], 0), TypeError, r"shapes \(3,\), \(3, 4\).*along dimension 0"),
    (lambda: lax.concatenate([V, V], 1), ValueError, r"an axis is out of bounds"),
    (lambda: lax.concatenate([V, V], 1.0), TypeError, r"dimension must be an integer, got 1.0"),
    (lambda: lax.stack([], 0), ValueError, r"needs at least one array"),
    (lambda: lax.stack([V, M]), ValueError, r"shapes \(3,\), \(3, 4\).*must be equal"),
    (lambda: lax.unstack(np.float32(1)), ValueError, r"axis 0 is out of bounds"),
    (lambda: lax.tile(M, (2,)), TypeError, r"reps \(2,\) .*one number of at least 0 per axis"),
    (lambda: lax.split(M, (1, 1)), ValueError, r"sizes of at least 0 whose sum is 3"),
    (lambda: lax.pad(V, 0.5j, [(0, 0, 0)]), TypeError, r"padding_value of dtype complex64"),
    (lambda: lax.pad(V, V, [(0, 0, 0)]), TypeError, r"shape \(3,\).*must be a scalar"),
    (lambda: lax.pad(V, 0.0, [(0, 0, -1)]), ValueError, r"interior padding must not be negative"),
    (lambda: lax.pad(V, 0.0, [(-2, -2, 0)]), ValueError, r"negative size -1"),
    (lambda: lax.pad(V, 0.0, [(0, 0, 0)] * 2), ValueError, r"\(low, high, interior\) for each"),
    (lambda: lax.slice(V, (0,), (4,)), TypeError, r"0 <= start <= limit <= size must hold"),
    (lambda: lax.slice(V, (-1,), (2,)), TypeError, r"0 <= start <= limit <= size must hold"),
    (lambda: lax.slice(V, (0,), (2,), (-1,)), TypeError, r"at least 1. Use rev"),
    (lambda: lax.slice(M, (0,), (2,)), TypeError, r"one number for each of the 2 axes"),
    (lambda: lax.index_in_dim(V, 7), IndexError, r"index 7 is out of bounds for axis 0, of size 3"),
    (lambda: lax.dynamic_slice(M, (0,), (1, 1)), ValueError, r"1 start indices.* its 2 axes"),
    (lambda: lax.dynamic_slice(V, 0, (1,)), TypeError, r"start_indices must be a sequence"),
    (lambda: lax.dynamic_slice(V, (1.0,), (1,)), TypeError, r"integers of one dtype"),
    (lambda: lax.dynamic_slice(V, (INTS,), (1,)), TypeError, r"each must be a scalar.*gather"),
    (lambda: lax.dynamic_slice(V, (0,), (4,)), TypeError, r"at least 0 and at most the axis's"),
    (lambda: lax.dynamic_slice(V, (-1,), (1,), allow_negative_indices=False), ValueError,
     r"-1 is negative, which allow_negative_indices=False forbids"),
    (lambda: lax.dynamic_update_slice(V, INTS, (0,)), TypeError, r"Convert the update to float32"),
    (lambda: lax.dynamic_update_slice(V, M, (0,)), TypeError, r"as many axes, none longer"),
    (lambda: rows(ROWS, mode="wrap"), ValueError, r"unknown mode 'wrap'.*'clip', 'fill'"),
    (lambda: rows(ROWS, (1, 5)), TypeError, r"slice_sizes \(1, 5\).*at most the axis's"),
    (lambda: rows(ROWS, (2, 4)), TypeError, r"windows must have size 1"),
    (lambda: rows(ROWS, at=V[:, None]), TypeError, r"must be integers with at least one axis"),
    (lambda: rows(ROWS, mode="fill", fill_value=V), TypeError, r"fill_value of shape \(3,\)"),
    (lambda: rows(GatherDimensionNumbers((2,), (0,), (0,))), TypeError,
     r"offset_dims must be at least 0 and less than 2"),
    (lambda: rows(GatherDimensionNumbers((0, 1), (1, 0), (0,))), TypeError,
     r"collapsed_slice_dims must increase"),
    (lambda: rows(GatherDimensionNumbers((1,), (0,), (0, 1))), TypeError,
     r"start_index_map must name one axis for each of the 1 components"),
    (lambda: rows(GatherDimensionNumbers((1,), (0,), (5,))), TypeError,
     r"start_index_map must be distinct, at least 0 and less than 2"),
    (lambda: rows(GatherDimensionNumbers((), (0,), (0,))), TypeError, r"offset_dims must have one"),
    (lambda: rows(GatherDimensionNumbers((1,), (), (1,), (0,), (0,))), TypeError,
     r"must pair axes of equal size"),
    (lambda: rows(GatherDimensionNumbers((1,), (), (0,), (0,), (0,))), TypeError,
     r"no axis in common"),
    (lambda: lax.index_take(M, (INTS,), (0, 1)), TypeError, r"an array with one axis for each"),
    (lambda: lax.scatter(M, AT, M[:1], INTO_ROWS), TypeError, r"must have the shape \(2, 4\)"),
    (lambda: lax.scatter(M, AT, V, INTO_ROWS), TypeError, r"updates must have 2 axes"),
    (lambda: lax.scatter_add(M, AT, np.ones((2, 4), int), INTO_ROWS), TypeError,
     r"lax.scatter_add .*Convert the updates to float32"),
    (lambda: lax.scatter_add(M > 0, AT, M[:2] > 0, INTO_ROWS), TypeError,
     r"does not take booleans.*scatter_max for 'or'"),
    (lambda: lax.scatter(M, AT, np.ones((2, 5), np.float32), INTO_ROWS), TypeError,
     r"a window of shape \(1, 5\) is larger than the operand"),
    (lambda: lax.scatter(M, AT, M[:2], ScatterDimensionNumbers((1,), (0,), (1, 0))), TypeError,
     r"scatter_dims_to_operand_dims must name one axis"),
    (lambda: lax.scatter_apply(M, AT, lambda v: lax.gt(v, v), INTO_ROWS, update_shape=(2, 4)),
     TypeError, r"scatter_apply: func maps a scalar of dtype float32 to bool\[\]"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_message(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_traced_sizes():
    with pytest.raises(TracerIntegerConversionError, match=r"static_argnums"):
        jit(lambda n: lax.reshape(M, (n,)))(12)
    with pytest.raises(TracerIntegerConversionError, match=r"static_argnums"):
        jit(lambda n: lax.squeeze(M[:1], (n,)))(0)


def test_a_function_over_overlapping_windows_closes_over_known_values_only():
    def f(k):
        return lax.scatter_apply(M, AT, lambda v: lax.mul(v, k), INTO_ROWS, update_shape=(2, 4))

    with pytest.raises(Exception, match=r"closes over a traced value of type f32\[\].*as an arg"):
        jit(f)(np.float32(2))
