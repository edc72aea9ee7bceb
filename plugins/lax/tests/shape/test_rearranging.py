"""Reshapes, transposes, broadcasts, squeezes, reversals, joins and pads against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import ShapedArray, stage_closed

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
M = X[0]

CASES = {
    "reshape": (lambda x: lax.reshape(x, (4, 6)), lambda x: x.reshape(4, 6)),
    "reshape-order": (
        lambda x: lax.reshape(x, (6, 4), (2, 0, 1)),
        lambda x: x.transpose(2, 0, 1).reshape(6, 4),
    ),
    "reshape-lone-size": (lambda x: lax.reshape(x, 24), lambda x: x.reshape(24)),
    "transpose": (lambda x: lax.transpose(x, (1, 2, 0)), lambda x: x.transpose(1, 2, 0)),
    "transpose-negative": (lambda x: lax.transpose(x, (-1, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "transpose-array": (
        lambda x: lax.transpose(x, np.array([2, 1, 0])),
        lambda x: x.transpose(),
    ),
    "broadcast": (
        lambda x: lax.broadcast(x, (2, 1)),
        lambda x: np.broadcast_to(x, (2, 1, 2, 3, 4)),
    ),
    "broadcast_to_rank": (lambda x: lax.broadcast_to_rank(x, 5), lambda x: x[None, None]),
    "broadcast_to_rank-enough": (lambda x: lax.broadcast_to_rank(x, 2), lambda x: x),
    "collapse": (lambda x: lax.collapse(x, 1), lambda x: x.reshape(2, 12)),
    "collapse-range": (lambda x: lax.collapse(x, 0, -1), lambda x: x.reshape(6, 4)),
    "collapse-nothing": (lambda x: lax.collapse(x, 1, 1), lambda x: x[:, None]),
    "expand_dims": (lambda x: lax.expand_dims(x, (-1, 0)), lambda x: x[None, ..., None]),
    "rev": (lambda x: lax.rev(x, (0, -1)), lambda x: x[::-1, :, ::-1]),
    "concatenate": (
        lambda x: lax.concatenate([x, x, x], -1),
        lambda x: np.concatenate([x, x, x], 2),
    ),
    "concatenate-rows": (lambda x: lax.concatenate(x, 0), lambda x: x.reshape(6, 4)),
    "stack": (lambda x: lax.stack([x, x], -1), lambda x: np.stack([x, x], 3)),
    "tile": (lambda x: lax.tile(x, (1, 2, 3)), lambda x: np.tile(x, (1, 2, 3))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name):
    ours, theirs = CASES[name]
    result = ours(X)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(result), theirs(X))


def test_squeeze():
    x = X[:1, :, :1]
    np.testing.assert_array_equal(np.asarray(lax.squeeze(x, (-1, 0))), x[0, :, 0])


def test_broadcast_in_dim():
    result = lax.broadcast_in_dim(M[:1], (5, 3, 4), (0, 2))
    np.testing.assert_array_equal(np.asarray(result), np.broadcast_to(M[:1, None], (5, 3, 4)))
    filled = lax.broadcast_in_dim(2.5, (2, 2), ())
    assert filled.weak_type
    np.testing.assert_array_equal(np.asarray(filled), np.full((2, 2), 2.5, np.float32))


def test_broadcast_like():
    result = lax.broadcast_like(M[:, :1], X)
    np.testing.assert_array_equal(np.asarray(result), np.broadcast_to(M[:, :1], X.shape))


def test_broadcast_shapes():
    assert lax.broadcast_shapes((3, 1), (1, 4), (2, 1, 1), ()) == (2, 3, 4)
    assert lax.broadcast_shapes((0, 1), (1, 1)) == (0, 1)
    assert lax.broadcast_shapes() == ()


def test_split_and_unstack():
    parts = lax.split(X, (1, 0, 3), -1)
    assert [p.shape for p in parts] == [(2, 3, 1), (2, 3, 0), (2, 3, 3)]
    np.testing.assert_array_equal(np.asarray(parts[2]), X[..., 1:])
    rows = lax.unstack(X, 1)
    assert isinstance(rows, tuple)
    np.testing.assert_array_equal(np.asarray(rows[2]), X[:, 2])


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.complex64, np.int8, np.bool_])
def test_pad_adds_between_and_removes(dtype):
    x = np.array([1, 0, 1], dtype)
    padded = lax.pad(x, dtype(1), [(-1, 2, 1)])
    np.testing.assert_array_equal(np.asarray(padded), np.array([1, 0, 1, 1, 1, 1], dtype))


def test_pad_takes_python_scalars():
    half = np.ones(2, ml_dtypes.bfloat16)
    assert lax.pad(half, 0.5, [(1, 0, 0)]).dtype == ml_dtypes.bfloat16
    assert lax.pad(np.ones(2, np.float32), 1, [(1, 0, 0)]).dtype == np.float32


NOTHING_TO_DO = {
    "reshape": lambda x: lax.reshape(x, (2, 3)),
    "reshape-order": lambda x: lax.reshape(x, (2, 3), (0, 1)),
    "transpose": lambda x: lax.transpose(x, (0, 1)),
    "broadcast": lambda x: lax.broadcast(x, ()),
    "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, (2, 3), (0, 1)),
    "broadcast_to_rank": lambda x: lax.broadcast_to_rank(x, 1),
    "collapse": lambda x: lax.collapse(x, 0, 1),
    "squeeze": lambda x: lax.squeeze(x, ()),
    "expand_dims": lambda x: lax.expand_dims(x, ()),
    "concatenate": lambda x: lax.concatenate([x], 0),
}


@pytest.mark.parametrize("name", NOTHING_TO_DO)
def test_no_operation_is_recorded_where_nothing_changes(name):
    program = stage_closed(lambda x: [NOTHING_TO_DO[name](x)], [ShapedArray((2, 3), np.float32)])
    assert program.jaxpr.eqns == []
    assert program.jaxpr.outvars == program.jaxpr.invars


@pytest.mark.parametrize("name", sorted(NOTHING_TO_DO.keys() - {"broadcast_to_rank"}))
def test_results_are_arrays_also_where_nothing_changes(name):
    assert not isinstance(NOTHING_TO_DO[name](np.ones((2, 3), np.float32)), np.ndarray)


def test_weak_types_stay():
    weak, strong = ShapedArray((2,), np.float32, True), ShapedArray((2,), np.float32)

    def f(w, s):
        return [
            lax.reshape(w, (1, 2)),
            lax.concatenate([w, w], 0),
            lax.concatenate([w, s], 0),
            lax.pad(w, 1.0, [(1, 0, 0)]),
            lax.pad(s, 1.0, [(1, 0, 0)]),
            lax.dynamic_update_slice(w, w, (0,)),
        ]

    flags = [a.weak_type for a in stage_closed(f, [weak, strong]).out_avals]
    assert flags == [True, True, False, True, False, False]


def test_parameters_are_tuples_of_python_ints():
    sizes = np.array([3, 2])
    program = stage_closed(
        lambda x: [lax.transpose(lax.reshape(x, sizes), np.array([1, 0]))],
        [ShapedArray((2, 3), np.float32)],
    )
    values = [v for e in program.jaxpr.eqns for p in e.params.values() for v in p]
    assert [type(v) for v in values] == [int] * 4
