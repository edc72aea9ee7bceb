"""Convolutions against their definition: every parameter, derivatives, batching into one row."""

from __future__ import annotations

from functools import partial
from itertools import product

import ml_dtypes
import numpy as np
import pytest
import scipy.signal

import dovetail_lax as lax
from dovetail_ad import grad, jvp, vjp
from dovetail_batching import vmap
from dovetail_core import ShapedArray, stage
from dovetail_lax import ConvDimensionNumbers
from dovetail_testing import assert_close, assert_transposes

# Operands are standard normal, so that the terms of a contraction are about 1, whatever they leave.
assert_sums = partial(assert_close, scale=1.0)

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def convolved(x, k, strides, pads, holes_x, holes_k, by_feature=1, by_batch=1):
    """A convolution by its definition, element after element; axes in the default order."""
    spread = [(n - 1) * d + 1 for n, d in zip(x.shape[2:], holes_x)]
    wide = np.zeros((*x.shape[:2], *spread))
    wide[(slice(None), slice(None), *[slice(None, None, d) for d in holes_x])] = x
    spans = [(n - 1) * d + 1 for n, d in zip(k.shape[2:], holes_k)]
    sizes = [
        (n + lo + hi - span) // s + 1 for n, (lo, hi), span, s in zip(spread, pads, spans, strides)
    ]
    batch, features = x.shape[0] // by_batch, x.shape[1] // by_feature
    out = np.zeros((batch, k.shape[0], *sizes))
    for n, o, *at in np.ndindex(*out.shape):
        group = o // (k.shape[0] // (by_feature * by_batch))
        row = n + (group * batch if by_batch > 1 else 0)
        first = group * features if by_feature > 1 else 0
        for c, *w in np.ndindex(*k.shape[1:]):
            p = [i * s + j * d - lo for i, s, j, d, (lo, _) in zip(at, strides, w, holes_k, pads)]
            if all(0 <= q < size for q, size in zip(p, spread)):
                out[(n, o, *at)] += wide[(row, first + c, *p)] * k[(o, c, *w)]
    return out.astype(np.float32)


def rows_of(f, avals):
    """Names of the rows that a function binds."""
    return [e.primitive.name for e in stage(lambda *xs: [f(*xs)], avals)[0].eqns]


PLAIN = {"window_strides": (1, 1), "padding": [(0, 0), (0, 0)]}
CASES = {
    "plain": ((2, 3, 4, 5), (2, 3, 2, 3), {}),
    "strides": ((2, 3, 5, 6), (2, 3, 2, 3), {"window_strides": (2, 3)}),
    "pads": ((2, 3, 4, 5), (2, 3, 2, 3), {"padding": [(1, 2), (0, 3)]}),
    "negative pads": ((1, 2, 5, 6), (2, 2, 2, 2), {"padding": [(-1, 2), (1, -2)]}),
    "lhs_dilation": ((1, 2, 3, 3), (2, 2, 2, 2), {"lhs_dilation": (2, 3)}),
    "rhs_dilation": ((1, 2, 6, 7), (2, 2, 2, 3), {"rhs_dilation": (3, 2)}),
    "all of these": ((2, 2, 4, 3), (3, 2, 2, 2), {
        "window_strides": (2, 1), "padding": [(2, 1), (-1, 3)], "lhs_dilation": (2, 3),
        "rhs_dilation": (3, 2)}),
    "feature groups": ((2, 4, 4, 4), (6, 2, 2, 2), {"feature_group_count": 2}),
    "depthwise": ((1, 3, 4, 4), (6, 1, 2, 2), {
        "feature_group_count": 3, "window_strides": (2, 1), "rhs_dilation": (1, 2)}),
    "batch groups": ((4, 2, 4, 4), (6, 2, 2, 2), {
        "batch_group_count": 2, "window_strides": (1, 2), "padding": [(1, 1), (0, 1)]}),
}  # fmt: skip


def case(name):
    x_shape, k_shape, changes = CASES[name]
    x, k, params = normal(*x_shape), normal(*k_shape), {**PLAIN, **changes}
    ones = (1, 1)
    expected = convolved(
        x, k, params["window_strides"], params["padding"], params.get("lhs_dilation", ones),
        params.get("rhs_dilation", ones), params.get("feature_group_count", 1),
        params.get("batch_group_count", 1),
    )  # fmt: skip
    return x, k, expected, lambda x, k: lax.conv_general_dilated(x, k, **params)


@pytest.mark.parametrize("name", CASES)
def test_values_follow_the_definition(name):
    x, k, expected, f = case(name)
    assert_sums(f(x, k), expected)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_transpose_the_convolution(name):
    x, k, expected, f = case(name)
    ct = np.cos(expected)
    pull = vjp(f, x, k)[1]
    assert_transposes(lambda t: [f(t, k)], lambda c: pull(c)[:1], [np.sin(x)], [ct], 1e-4)
    assert_transposes(lambda t: [f(x, t)], lambda c: pull(c)[1:], [np.sin(k)], [ct], 1e-4)
    _, tangent = jvp(f, (x, k), (np.sin(x), np.sin(k)))
    assert_sums(tangent, np.asarray(f(np.sin(x), k)) + np.asarray(f(x, np.sin(k))))


@pytest.mark.parametrize("name", CASES)
def test_batching_makes_one_convolution(name):
    x, k, _, f = case(name)
    for dx, dk in product((None, 0, 2, 4), (None, 0, 4)):
        if dx is None and dk is None:
            continue
        xs = [x, -2 * x, x + 1] if dx is not None else [x] * 3
        ks = [k, 3 * k, k - 1] if dk is not None else [k] * 3
        args = [v[0] if d is None else np.stack(v, d) for v, d in ((xs, dx), (ks, dk))]
        batched = vmap(f, in_axes=(dx, dk))
        assert_sums(batched(*args), np.stack([f(a, b) for a, b in zip(xs, ks)]))
        avals = [ShapedArray(a.shape, a.dtype) for a in args]
        rows = rows_of(batched, avals)
        assert rows.count("conv_general_dilated") == 1
        assert set(rows) <= {"conv_general_dilated", "transpose", "reshape"}


def test_a_batch_of_none():
    batched = vmap(lambda x, k: lax.conv(x, k, (1, 1), "SAME"))
    result = batched(normal(0, 2, 3, 4, 4), normal(0, 5, 3, 2, 2))
    assert np.shape(result) == (0, 2, 5, 4, 4)


@pytest.mark.parametrize(
    ("numbers", "lhs", "rhs", "out"),
    [(("NHWC", "HWIO", "NHWC"), (0, 2, 3, 1), (2, 3, 1, 0), (0, 2, 3, 1)),
     (("HCNW", "OHIW", "WNHC"), (2, 1, 0, 3), (0, 2, 1, 3), (3, 0, 2, 1))],
)  # fmt: skip
def test_axes_in_any_order(numbers, lhs, rhs, out):
    x, k = normal(2, 3, 5, 6), normal(4, 3, 2, 3)
    plain = np.asarray(lax.conv(x, k, (2, 1), "SAME"))
    result = lax.conv_general_dilated(
        x.transpose(lhs), k.transpose(rhs), (2, 1), "SAME", dimension_numbers=numbers
    )
    assert_sums(result, plain.transpose(out))


def test_names_of_padding():
    x, k = normal(1, 1, 9, 10), normal(1, 1, 3, 4)
    valid = scipy.signal.correlate(x[0, 0], k[0, 0], "valid")
    assert_sums(np.asarray(lax.conv(x, k, (1, 1), "VALID"))[0, 0], valid)
    same = scipy.signal.correlate(np.pad(x[0, 0], ((1, 1), (1, 2))), k[0, 0], "valid")
    assert_sums(np.asarray(lax.conv(x, k, (1, 1), "SAME"))[0, 0], same)
    lower = scipy.signal.correlate(np.pad(x[0, 0], ((1, 1), (2, 1))), k[0, 0], "valid")
    assert_sums(np.asarray(lax.conv(x, k, (1, 1), "SAME_LOWER"))[0, 0], lower)
    assert lax.padtype_to_pads((10, 11), (3, 4), (2, 3), "same") == [(0, 1), (1, 1)]
    assert lax.padtype_to_pads((10, 11), (3, 4), (2, 3), "SAME_LOWER") == [(1, 0), (1, 1)]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_any_number_of_spatial_axes(n):
    x, k = normal(2, 3, *(4, 3, 3)[:n]), normal(2, 3, *(2, 1, 2)[:n])
    result = lax.conv_general_dilated(x, k, (1,) * n, [(0, 0)] * n)
    assert_sums(result, convolved(x, k, (1,) * n, [(0, 0)] * n, (1,) * n, (1,) * n))


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", ml_dtypes.bfloat16, "complex64"])
def test_element_types(dtype):
    x, k = (RNG.integers(-3, 4, s).astype(dtype) for s in ((1, 2, 4, 4), (2, 2, 2, 2)))
    reals = (x.real.astype(float), k.real.astype(float))
    expected = convolved(*reals, (1, 1), [(0, 0)] * 2, (1, 1), (1, 1))
    assert_sums(lax.conv(x, k, (1, 1), "VALID"), expected.astype(dtype))


def test_narrow_floats_accumulate_in_the_preferred_type():
    x, k = np.ones((1, 1, 600), ml_dtypes.bfloat16), np.ones((1, 1, 600), ml_dtypes.bfloat16)

    def f(x, k):
        return lax.conv_general_dilated(x, k, (1,), "VALID", preferred_element_type=np.float32)

    out, pull = vjp(f, x, k)
    assert (out.dtype, float(np.asarray(out)[0, 0, 0])) == (np.float32, 600)
    assert [c.dtype for c in pull(out)] == [x.dtype, k.dtype]


def test_places_without_elements():
    x, k = normal(2, 3, 1, 9), normal(4, 3, 2, 3)
    assert np.shape(lax.conv(x, k, (1, 1), "VALID")) == (2, 4, 0, 7)
    total = grad(lambda k: lax.reduce_sum(lax.conv(x, k, (1, 1), "VALID"), (0, 1, 2, 3)))
    assert not np.asarray(total(k)).any()


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_transposed_convolution_is_the_transpose(size, stride, padding):
    """With a transposed kernel it is the transpose of the convolution forward with that kernel."""
    y, k = normal(1, 5, 2), normal(size, 3, 2)
    result = lax.conv_transpose(y, k, (stride,), padding, transpose_kernel=True)
    n = np.shape(result)[1]
    assert n == (5 * stride if padding == "SAME" else 5 * stride + max(size - stride, 0))
    numbers = ("NHC", "HIO", "NHC")

    def forward(x):
        return lax.conv_general_dilated(x, k, (stride,), padding, dimension_numbers=numbers)

    (pulled,) = vjp(forward, normal(1, n, 3))[1](y)
    assert_sums(result, pulled)


def test_explicit_pads_of_transposed_convolutions():
    y, k = normal(1, 5, 2), normal(3, 2, 4)
    assert_sums(
        lax.conv_transpose(y, k, (2,), [(2, 1)]),
        lax.conv_transpose(y, k, (2,), [(0, 1)], use_consistent_padding=True),
    )


def test_helpers_of_axes_and_shapes():
    nhwc = ("NHWC", "HWIO", "NHWC")
    numbers = ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    assert lax.conv_dimension_numbers((2, 3, 4, 5), (1, 2, 3, 4), nhwc) == numbers
    assert lax.conv_dimension_numbers((2, 3, 4), (1, 2, 3), None) == ((0, 1, 2),) * 3
    assert lax.conv_dimension_numbers((2, 3, 4, 5), (1, 2, 3, 4), numbers) is numbers
    assert lax.conv_general_permutations(nhwc) == tuple(numbers)
    assert lax.conv_shape_tuple((2, 3, 8, 9), (4, 3, 2, 3), (1, 2), "SAME") == (2, 4, 8, 5)
    assert lax.conv_shape_tuple((4, 3, 8), (4, 3, 2), (1,), [(1, 1)], 2) == (2, 4, 9)
    general = lax.conv_general_shape_tuple((2, 8, 9, 3), (2, 3, 3, 4), (1, 2), "SAME", nhwc)
    assert general == (2, 8, 5, 4)
    transposed = lax.conv_transpose_shape_tuple((2, 8, 9, 3), (2, 3, 3, 4), (2, 2), "VALID", nhwc)
    assert transposed == (2, 16, 19, 4)


@pytest.mark.parametrize("numbers", [None, ("NHWC", "OHWI", "NCHW")])
def test_patches_are_what_windows_see(numbers):
    x = normal(2, 3, 5, 6) if numbers is None else normal(2, 5, 6, 3)
    params = {"window_strides": (2, 1), "padding": [(1, 0), (0, 2)], "rhs_dilation": (1, 2)}
    result = lax.conv_general_dilated_patches(x, (2, 3), dimension_numbers=numbers, **params)
    images = x if numbers is None else x.transpose(0, 3, 1, 2)
    expected = np.stack(
        [
            convolved(images[:, c : c + 1], k, (2, 1), params["padding"], (1, 1), (1, 2))[:, 0]
            for c in range(3)
            for k in np.eye(6).reshape(6, 1, 1, 2, 3)
        ],
        axis=1,
    )
    assert_sums(result, expected)


def test_kernels_that_are_equal_at_all_places_convolve():
    x, k = normal(2, 5, 6, 3), normal(2, 3, 3, 4)
    numbers = ("NHWC", "HWIO", "NHWC")
    plain = lax.conv_general_dilated(x, k, (1, 2), "SAME", dimension_numbers=numbers)
    # Input features of local kernels are the patches': feature after feature, places within.
    local = np.broadcast_to(k.transpose(2, 0, 1, 3).reshape(18, 4), (5, 3, 18, 4))
    result = lax.conv_general_dilated_local(
        x, local, (1, 2), "SAME", (2, 3), dimension_numbers=numbers
    )
    assert_sums(result, plain)


def test_patches_need_a_window():
    with pytest.raises(TypeError, match=r"filter_shape \(2,\) for f32\[2,3,4,4\].*needs 2 values"):
        lax.conv_general_dilated_patches(normal(2, 3, 4, 4), (2,), (1, 1), "SAME")
