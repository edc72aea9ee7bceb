"""What is said of operands that reductions, sorts and windows refuse."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_jit import ShapeDtypeStruct, eval_shape

M = np.ones((3, 4), np.float32)
N = np.ones((3, 4), np.int32)
B = np.ones((3, 4), bool)
C = np.ones((3, 4), np.complex64)

WRONG = [
    (lambda: lax.reduce_sum(M, (2,)), ValueError,
     r"lax.reduce_sum got axes \(2,\) for an operand f32\[3,4\] at .*test_errors.*less than 2"),
    (lambda: lax.reduce_max(M, (-1,)), ValueError, r"lax.reduce_max.*add 2 to a negative one"),
    (lambda: lax.reduce_sum(M, (0, 0)), ValueError, r"axes \(0, 0\) at .*name each axis once"),
    (lambda: lax.reduce_sum(B, (0,)), TypeError,
     r"lax.reduce_sum does not accept bool\[3,4\] at .*takes numbers.*convert_element_type"),
    (lambda: lax.reduce_and(M, (0,)), TypeError, r"lax.reduce_and.*booleans and integers"),
    (lambda: lax.reduce_sum(M, (0,), out_sharding=1), TypeError, "out_sharding must be a"),
    (lambda: lax.reduce_sum("a", (0,)), TypeError, r"lax.reduce_sum takes arrays: 'a' of type str"),
    (lambda: lax.argmax(M, -1, np.int32), ValueError, r"lax.argmax got axis -1.*less than 2"),
    (lambda: lax.argmax(M, 1, np.float32), TypeError, r"index_dtype=float32.*integer type"),
    (lambda: lax.argmin(C, 1, np.int32), TypeError, r"lax.argmin.*no order.*magnitudes"),
    (lambda: lax.argmin(M[:, :0], 1, np.int32), ValueError, r"axis 1 of f32\[3,0\].*no extremum"),
    (lambda: lax.reduce((M, M), (0.0,), lax.add, (0,)), ValueError,
     r"lax.reduce takes operands and initial values of one structure"),
    (lambda: lax.reduce(M, np.int32(0), lambda a, b: a, (0,)), TypeError,
     r"initial value i32\[\] for an operand f32\[3,4\].*scalar of dtype float32"),
    (lambda: lax.reduce((M, M[0]), (0.0, 0.0), lambda a, b: a, (0,)), ValueError,
     r"operands of one shape, got f32\[3,4\], f32\[4\]"),
    (lambda: lax.reduce(M, 0.0, lambda a, b: lax.lt(a, b), (0,)), TypeError,
     r"computation of lax.reduce.*return scalars of the operands' types, f32\[\]; it returns bool"),
    (lambda: lax.reduce(M, 0.0, lambda a, b: (a, b), (0,)), TypeError, r"return as many scalars"),
    (lambda: lax.cumsum(M, axis=2), ValueError, r"lax.cumsum got axis 2.*less than 2"),
    (lambda: lax.cummax(B, axis=0), TypeError, r"lax.cummax does not accept bool.*numbers"),
    (lambda: lax.cumlogsumexp(N), TypeError, r"lax.cumlogsumexp.*floating-point and complex"),
    (lambda: lax.associative_scan(1, M), TypeError, r"takes a function, got 1"),
    (lambda: lax.associative_scan(lax.add, []), ValueError, r"at least one array, got none"),
    (lambda: lax.associative_scan(lax.add, M, axis=2), ValueError, r"got axis 2 for an array f32"),
    (lambda: lax.associative_scan(lax.add, (M, M.T)), ValueError, r"one length along axis 0"),
    (lambda: lax.associative_scan(lambda a, b: (a, b), M), ValueError, r"return as many arrays"),
    (lambda: lax.sort([]), TypeError, r"lax.sort takes at least one array"),
    (lambda: lax.sort((M, M[0])), TypeError, r"one shape, got f32\[3,4\], f32\[4\]"),
    (lambda: lax.sort(M, dimension=2), ValueError, r"dimension 2 for an operand of shape \(3, 4\)"),
    (lambda: lax.sort(np.float32(1)), ValueError, r"lax.sort got a scalar"),
    (lambda: lax.sort(M, num_keys=2), ValueError, r"num_keys=2 for one operand.*it is 1"),
    (lambda: lax.sort((M, M), num_keys=3), ValueError, r"num_keys=3 for 2 operands"),
    (lambda: lax.top_k(M, 5), ValueError, r"k=5 for f32\[3,4\].*4 elements along axis 1"),
    (lambda: lax.top_k(M, -1), ValueError, r"k must be at least 0"),
    (lambda: lax.top_k(C, 1), ValueError, r"lax.top_k.*no order"),
    (lambda: lax.top_k(M, 1, axis=3), ValueError, r"axis 3.*from -2 to 1"),
    (lambda: lax.approx_max_k(N, 1), ValueError, r"lax.approx_max_k.*floating-point.*lax.top_k"),
    (lambda: lax.approx_min_k(M, 9), ValueError, r"lax.approx_min_k got k=9"),
    (lambda: lax.approx_max_k(M, 1, recall_target=2.0), ValueError, r"recall_target=2.0"),
    (lambda: lax.reduce_window(M, 0.0, lax.add, (2,)), TypeError,
     r"lax.reduce_window got window_dimensions \(2,\) at .*needs 2 values, one per axis"),
    (lambda: lax.reduce_window(M, 0.0, lax.add, (0, 1)), TypeError, r"\(0, 1\).*must be positive"),
    (lambda: lax.reduce_window(M, 0.0, lax.add, (1, 1), (1, 0)), TypeError, r"window_strides"),
    (lambda: lax.reduce_window(M, 0.0, lax.add, (1, 1), padding="FULL"), RuntimeError,
     r"padding 'FULL' at .*'VALID', 'SAME' or 'SAME_LOWER'"),
    (lambda: lax.padtype_to_pads((3,), (2,), (1,), 5), TypeError, r"padding 5"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()


def test_positions_of_the_largest_fit_their_type() -> None:
    most = ShapeDtypeStruct((2**31 - 1,), "bfloat16")
    assert eval_shape(lambda x: lax.top_k(x, 9), most)[1].dtype == np.int32
    with pytest.raises(ValueError, match=r"lax.top_k got bf16\[2147483648\] at .* are no int32"):
        eval_shape(lambda x: lax.top_k(x, 9), ShapeDtypeStruct((2**31,), "bfloat16"))
