"""Classes of the errors about shapes, axes and element types; results that are lists."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail import lax
from dovetail_lax.errors import ElementTypeError, OutOfBounds, ShapeError

VECTOR = np.ones(3, np.float32)
MATRIX = np.eye(3, dtype=np.float32)

SHAPES = [
    lambda: lax.linalg.qr(VECTOR),
    lambda: lax.linalg.cholesky(np.ones((2, 3), np.float32)),
    lambda: lax.linalg.householder_product(MATRIX, np.ones((2, 3), np.float32)),
    lambda: lax.top_k(VECTOR, 4),
    lambda: lax.split(VECTOR, (1, 1)),
    lambda: lax.pad(VECTOR, np.float32(0), [(0, 0, -1)]),
    lambda: lax.squeeze(MATRIX, (0,)),
]
AXES = [
    lambda: lax.concatenate([VECTOR, VECTOR], 1),
    lambda: lax.reduce_max(VECTOR, (1,)),
    lambda: lax.rev(VECTOR, (1,)),
    lambda: lax.index_in_dim(VECTOR, 0, 1),
    lambda: lax.cumsum(VECTOR, 1),
    lambda: lax.sort(VECTOR, 1),
]


@pytest.mark.parametrize("call", SHAPES + AXES)
@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_shapes_are_an_error_of_types_and_of_values(call, error):
    with pytest.raises(error, match=r"lax\."):
        call()


@pytest.mark.parametrize("call", AXES)
def test_axes_out_of_bounds_are_an_error_of_indices(call):
    with pytest.raises(IndexError):
        call()


def test_classes_of_errors():
    assert issubclass(OutOfBounds, ShapeError)
    assert issubclass(ElementTypeError, TypeError)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_factorizations_of_small_floats_are_not_implemented(dtype):
    with pytest.raises(NotImplementedError, match="does not accept"):
        lax.linalg.qr(lax.convert_element_type(MATRIX, dtype))


def test_a_placement_of_a_result_that_is_none_is_an_error_of_types():
    with pytest.raises(TypeError, match="out_sharding must be"):
        lax.broadcast(VECTOR, (2,), out_sharding=())


@pytest.mark.parametrize(
    ("call", "x", "n"),
    [
        (lax.linalg.lu, MATRIX, 3),
        (lax.linalg.schur, MATRIX, 2),
        (lax.linalg.hessenberg, MATRIX, 2),
        (lax.linalg.tridiagonal, MATRIX, 4),
        (lambda x: lax.approx_max_k(x, 1), VECTOR, 2),
        (lambda x: lax.approx_min_k(x, 1), VECTOR, 2),
    ],
)
def test_results_are_lists(call, x, n):
    for result in (call(x), dovetail.eval_shape(call, x)):
        assert isinstance(result, list)
        assert len(result) == n


def test_the_same_bits_in_the_same_type_are_not_weak():
    assert not lax.bitcast_convert_type(1.5, np.float32).weak_type
