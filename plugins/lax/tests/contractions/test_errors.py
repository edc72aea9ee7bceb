"""What is said of operands that contractions, convolutions and Fourier transforms refuse."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax

M = np.ones((3, 4), np.float32)
X = np.ones((2, 3, 8, 9), np.float32)
K = np.ones((4, 3, 2, 3), np.float32)


def dot(contract, batch=((), ())):
    return lambda: lax.dot_general(M, M, (contract, batch))


def conv(*args, **params):
    return lambda: lax.conv_general_dilated(X, K, *args, **params)


WRONG = [
    (dot(((1,), (0,))), TypeError,
     r"lax.dot_general got operands f32\[3,4\] and f32\[3,4\] with contracting axes \(1,\) and "
     r"\(0,\), of sizes \(4,\) and \(3,\) at .*test_errors.*must be equal. Transpose"),
    (dot(((), ()), ((0,), (1,))), TypeError, r"batch axes \(0,\) and \(1,\), of sizes \(3,\)"),
    (dot(((2,), (1,))), TypeError, r"its lhs f32\[3,4\].*at least 0 and less than 2"),
    (dot(((1,), (-1,))), TypeError, r"its rhs f32\[3,4\].*at least 0 and less than 2"),
    (dot(((1, 1), (1, 1))), TypeError, r"\(1, 1\).*each axis can be named once"),
    (dot(((1,), (1,)), ((1,), (0,))), TypeError, r"each axis can be named once"),
    (dot(5), TypeError, r"got dimension_numbers \(5, .*lhs_contracting, rhs_contracting"),
    (lambda: lax.dot(M, M), ValueError, r"lax.dot got f32\[3,4\] and f32\[3,4\].*first axis"),
    (lambda: lax.dot(2.0, M), ValueError, r"lax.dot got f32\[\]~ and f32\[3,4\]"),
    (lambda: lax.dot(M, M.T, precision="best"), ValueError, r"precision 'best'.*'highest'"),
    (lambda: lax.dot(M, M.T, out_sharding=1), TypeError, "out_sharding must be a"),
    (lambda: lax.batch_matmul(X, M), ValueError, r"lax.batch_matmul got f32\[2,3,8,9\] and f32"),
    (lambda: lax.dot_general("a", M, (((), ()), ((), ()))), TypeError, r"lax.dot_general takes"),
    (conv((1, 1), "FULL"), RuntimeError, r"padding 'FULL' at .*test_errors"),
    (conv((1, 1), "SAME", (2, 2)), ValueError, r"'SAME' with lhs_dilation \(2, 2\).*transpose"),
    (conv((1,), "SAME"), TypeError, r"window_strides \(1,\).*2 values, one per spatial axis"),
    (conv((1, 0), "SAME"), TypeError, r"window_strides \(1, 0\).*must be positive"),
    (conv((1, 1), [(0, 0)]), TypeError, r"padding \(\(0, 0\),\).*2 values"),
    (conv((1, 1), "VALID", (0, 1)), TypeError, r"lhs_dilation \(0, 1\).*positive"),
    (conv((1, 1), "SAME", feature_group_count=3), ValueError,
     r"convolution of f32\[2,3,8,9\] with a kernel f32\[4,3,2,3\] at .*3 features in 3 groups "
     r"\(feature_group_count\) make 1 each, but the kernel takes 3"),
    (conv((1, 1), "SAME", batch_group_count=4), ValueError, r"=4 must divide .* batch size 2"),
    (conv((1, 1), "SAME", batch_group_count=3), ValueError, r"=3 must divide .* 4 output features"),
    (conv((1, 1), "SAME", batch_group_count=2, feature_group_count=3), ValueError, r"one of them"),
    (conv((1, 1), "SAME", feature_group_count=0), ValueError, r"must be positive"),
    (conv((1, 1), "SAME", dimension_numbers=("NHWC", "HWIO")), TypeError, r"three strings such as"),
    (conv((1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWX")), TypeError,
     r"dimension_numbers\[2\] 'NHWX'.*'N' and 'C'"),
    (conv((1, 1), "SAME", dimension_numbers=("NHWC", "HDIO", "NHWC")), TypeError,
     r"must name the same spatial axes"),
    (lambda: lax.conv(X, K.astype(np.int32), (1, 1), "SAME"), TypeError, r"one dtype. Convert"),
    (lambda: lax.conv(X[0], K, (1, 1), "SAME"), TypeError, r"\(3, 8, 9\) and \(4, 3, 2, 3\)"),
    (lambda: lax.conv_transpose(X, K, (1, 1), "FULL"), ValueError, r"conv_transpose got padding"),
    (lambda: lax.fft(M, "DCT", (4,)), TypeError, r"fft_type='DCT'.*FFT, IFFT, RFFT, IRFFT"),
    (lambda: lax.fft(M, "RFFT", (3,)), ValueError, r"axes of sizes \(3,\).*f32\[3,4\] has others"),
    (lambda: lax.fft(M * 1j, "RFFT", (4,)), ValueError, r"RFFT.*takes real arrays"),
    (lambda: lax.fft(M.astype(np.float16), "RFFT", (4,)), TypeError, r"f16\[3,4\].*32-bit or 64"),
    (lambda: lax.fft(M, "RFFT", (1, 3, 4)), ValueError, r"fft_lengths=\(1, 3, 4\).*fewer axes"),
    (lambda: lax.fft(X, "RFFT", (2, 3, 8, 9)), ValueError, r"one to three axes"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()
