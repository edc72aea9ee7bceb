"""Rearranging arrays against NumPy: shapes, axes, joining, splitting, repeating, padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_jit import jit

CASES = """\
xp.reshape(f2, (3, -1))
xp.reshape(f2, (3, 2), order='F')
xp.ravel(f2, order='F')
xp.transpose(f3, (1, 0, 2))
xp.matrix_transpose(f3)
xp.swapaxes(f3, 0, 2)
xp.moveaxis(f3, (0, 1), (1, 2))
xp.rollaxis(f3, 2)
xp.squeeze(f1[None, :, None])
xp.squeeze(f1[None, :, None], 0)
xp.expand_dims(f2, (0, -1))
xp.broadcast_to(f1[:3], (2, 3))
xp.broadcast_arrays(f2, f2[0], 1)
xp.broadcast_shapes((2, 1), (3,))
xp.atleast_2d(f1)
xp.atleast_3d(f1)
xp.resize(f2, (4, 2))
xp.size(f3, 1)
xp.concatenate([f1, i1])
xp.concatenate([f2, f2], axis=1)
xp.concatenate([f2, f1], axis=None)
xp.concatenate([f1, i1], dtype=np.complex64)
xp.append(f2, f2, axis=0)
xp.stack([f1, i1], axis=1)
xp.hstack([f2, f2])
xp.vstack([f1, f1])
xp.dstack([f1, f1])
xp.column_stack([f1, f1])
xp.block([[sq, sq], [sq, sq]])
xp.block([f1, xp.asarray([2.0])])
xp.split(f1, 3)
xp.split(f1, [2, 5])
xp.array_split(f1, 4)
xp.hsplit(f2, 3)
xp.dsplit(f3, 2)
xp.unstack(f2, axis=1)
xp.flip(f3, (0, 2))
xp.flipud(f2)
xp.rot90(f2)
xp.rot90(f3, 3, (1, 2))
xp.roll(f2, 1)
xp.roll(f2, (1, 2), axis=(0, 1))
xp.roll(f1, -3)
xp.tile(f2, (2, 1, 2))
xp.repeat(f2, 2, axis=1)
xp.repeat(f2, np.array([1, 2]), axis=0)
xp.delete(f2, 1, axis=1)
xp.delete(f1, slice(1, 4))
xp.delete(f1, np.array([1, -1]))
xp.insert(f1, 1, 5.0)
xp.insert(f1, np.array([1, 3]), np.array([5.0, 6.0]))
xp.insert(f2, 1, f2[:, 0], axis=1)
xp.trim_zeros(np.array([0, 0, 1, 2, 0]))
xp.apply_along_axis(xp.sum, 1, f3)
xp.apply_over_axes(xp.sum, f3, (0, 2))
xp.pad(f2, ((1, 2), (3, 0)))
xp.pad(f2, 1, constant_values=((1, 2), (3, 4)))
xp.pad(f1, 9, mode='reflect')
xp.pad(f1, 9, mode='symmetric')
xp.pad(f1, 9, mode='wrap')
xp.pad(f1, 2, mode='reflect', reflect_type='odd')
xp.pad(i2, (1, 2), mode='linear_ramp')
xp.pad(f2, 1, mode='mean')
xp.pad(i2, 2, mode='median')
xp.pad(f1, 2, mode='maximum', stat_length=3)
xp.pad(f2, 2, mode='minimum')
xp.pad(f2, 2, mode='edge')
xp.astype(f1, np.int32)
f1.view(np.int32)
f1.view(np.complex64)
c1.view(np.float32)
u1.view(np.int16)
i1.byteswap()
""".splitlines()


@pytest.mark.parametrize("case", CASES)
def test_functions_that_rearrange(case, same_as_numpy):
    same_as_numpy(case)


def test_rolling_by_a_traced_shift(arrays, near):
    x = arrays["f2"]
    roll = jit(lambda v, s: dnp.roll(v, s, axis=1))
    for shift in (0, 1, -4, 5):
        near(roll(x, shift), np.roll(np.asarray(x), shift, axis=1))


def test_repeating_a_traced_number_of_times(arrays, near):
    x = arrays["f1"]
    repeat = jit(lambda v, r: dnp.repeat(v, r, total_repeat_length=5))
    near(repeat(x, np.array([1, 0, 2, 2, 0, 0])), np.asarray(x)[[0, 2, 2, 3, 3]])


def test_padding_by_a_function(near):
    def fill(vector, widths, axis, kwargs):
        return vector.at[: widths[0]].set(kwargs["value"])

    out = dnp.pad(dnp.ones(3), (2, 1), mode=fill, value=7.0)
    near(out, np.array([7, 7, 1, 1, 1, 0], np.float32))


def test_deleting_traced_unique_places(arrays, near):
    x = arrays["f1"]
    delete = jit(lambda v, i: dnp.delete(v, i, assume_unique_indices=True))
    near(delete(x, np.array([4, 1, -1])), np.delete(np.asarray(x), [4, 1, -1]))


def test_reshape_leaves_numpy_arrays_what_they_are():
    whole = np.arange(6.0).reshape(2, 3)
    column = jit(lambda: [np.all(dnp.reshape(whole, (3, 2)) >= 0), dnp.reshape(2.0, 1)])()
    assert bool(column[0]) and column[1].shape == (1,)
    for order in "CF":
        result = dnp.reshape(whole, -1, order)
        assert type(result) is np.ndarray and result.dtype == np.float64
        assert result.tolist() == whole.reshape(-1, order=order).tolist()
    assert not np.shares_memory(dnp.reshape(whole, -1, copy=True), whole)
    assert isinstance(dnp.ravel(whole), dnp.ndarray)


RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: dnp.reshape(np.ones(3), (2, 2)), ValueError, r"cannot reshape array .* at .*test_m"),
    (lambda x: dnp.sort(x, kind="stable"), TypeError, "sort: kind is not supported"),
    (lambda x: dnp.argsort(x, order="a"), TypeError, "argsort: order is not supported"),
    (lambda x: x.reshape(4, 4), TypeError, r"shape \(2, 3\) \(size 6\) into shape \(4, 4\)"),
    (lambda x: x.reshape(-1, 4), TypeError, "4 does not divide 6"),
    (lambda x: x.reshape(-1, -1), TypeError, "only one dimension may be -1"),
    (lambda x: dnp.transpose(x, (0, 0)), ValueError, r"duplicate axis in \(0, 0\)"),
    (lambda x: dnp.squeeze(x, 0), ValueError, r"squeeze: axis 0 of .*\(2, 3\) has size 2, not 1"),
    (lambda x: dnp.broadcast_to(x, (3,)), ValueError, r"\(2, 3\) does not broadcast to .*\(3,\)"),
    (lambda x: dnp.concatenate([]), ValueError, "concatenate needs at least one array"),
    (lambda x: dnp.concatenate(x[:0]), ValueError, "concatenate needs at least one array"),
    (lambda x: dnp.choose(np.arange(2), x[:0]), ValueError, "at least one array of choices"),
    (lambda x: dnp.lexsort(1j), TypeError, "lexsort takes a sequence of keys, got a scalar"),
    (lambda x: dnp.pad(x, RECURSIVE), ValueError, "pad cannot take these arguments"),
    (lambda x: dnp.stack(x[:0]), ValueError, "stack needs at least one array"),
    (lambda x: dnp.vstack(x[:0]), ValueError, "vstack needs at least one array"),
    (lambda x: dnp.pow(x, np.dtype("int8")), TypeError, r"position 1, got Int8DType"),
    (lambda x: dnp.asarray(x) ** np.dtype("int8"), TypeError, "unsupported operand type"),
    (lambda x: dnp.concatenate([x, x[0]]), TypeError, r"shapes \(2, 3\), \(3,\) along axis 0"),
    (lambda x: dnp.concatenate(3.0), TypeError, "takes a sequence of arrays, got float"),
    (lambda x: dnp.stack([x, x[0]]), ValueError, r"one shape, got \(2, 3\), \(3,\)"),
    (lambda x: dnp.split(x, 4, axis=1), ValueError, "size 3 cannot be split into 4 equal parts"),
    (lambda x: jit(dnp.repeat)(x, dnp.arange(6)), TypeError, "total_repeat_length"),
    (lambda x: dnp.pad(x, -1), ValueError, "widths cannot be negative"),
    (lambda x: dnp.pad(x, 1, mode="foo"), NotImplementedError, "mode must be one of constant"),
    (lambda x: dnp.pad(x[:0], 1, mode="edge"), ValueError, "'edge' has nothing to copy along axis"),
    (lambda x: dnp.ravel(x, "K"), NotImplementedError, "order must be 'C' or 'F', got 'K'"),
    (lambda x: dnp.ravel(x, "Z"), ValueError, "order must be 'C' or 'F', got 'Z'"),
    (lambda x: dnp.permute_dims(x), TypeError, "axes"),
    (lambda x: dnp.transpose(x, (0,)), TypeError, "do not name each axis"),
    (lambda x: dnp.transpose(x, (0,)), ValueError, "do not name each axis"),
    (lambda x: dnp.swapaxes(x, 0, 2), IndexError, "axis 2 is out of bounds for an array of 2 dim"),
    (lambda x: dnp.broadcast_arrays(x, x[0, :2]), ValueError, "cannot be broadcast together"),
    (lambda x: dnp.insert(x[0], 1.5, 1), ValueError, "obj must be of integers or a slice, got"),
    (lambda x: dnp.insert(x[0], [[1]], 1), ValueError, r"dimension at most, got shape \(1, 1\)"),
    (lambda x: dnp.pad(x, 1, stat_length=1), ValueError, "'constant' does not take stat_length"),
    (lambda x: dnp.delete(x[0], 9), IndexError, "delete: index 9 is out of bounds for an axis of"),
    (lambda x: dnp.delete(x[0], 1.5), ValueError, "delete: obj must be of integers or booleans"),
    (lambda x: dnp.delete(x[0], np.array([True])), ValueError, r"mask of shape \(1,\) for an axis"),
    (lambda x: dnp.insert(x[0], 9, 1), IndexError, "index 9 is out of bounds"),
    (lambda x: x[0].view("complex64"), ValueError, "12 bytes, which do not divide"),
    (lambda x: dnp.moveaxis(x, (0, 1), 0), ValueError, "2 sources for 1 destinations"),
])  # fmt: skip
def test_errors(call, error, text, arrays):
    with pytest.raises(error, match=text):
        call(arrays["f2"])


def test_expand_dims_takes_any_sequence_of_axes():
    x = np.arange(3)
    for axes in (range(2), [0, 2], (0, -1), np.array([0, 1]), np.int64(1)):
        wanted = tuple(axes) if np.ndim(axes) else int(axes)
        np.testing.assert_array_equal(dnp.expand_dims(x, axes), np.expand_dims(x, wanted))
