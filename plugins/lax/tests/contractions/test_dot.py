"""Contractions: every layout of axes, element types, derivatives, and batching into one row."""

from __future__ import annotations

from functools import partial
from itertools import permutations, product

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import jvp, vjp
from dovetail_batching import vmap
from dovetail_core import ShapedArray, stage
from dovetail_testing import assert_close, assert_same

# Operands are standard normal, so that the terms of a contraction are about 1, whatever they leave.
assert_sums = partial(assert_close, scale=1.0)

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 3, 4)).astype(np.float32)
B = RNG.normal(size=(5, 4, 3, 2)).astype(np.float32)
LAYOUTS = [
    ((((2,), (1,)), ((), ())), "abc,dcef->abdef"),
    ((((2, 1), (1, 2)), ((), ())), "abc,dcbf->adf"),
    ((((1, 2), (2, 1)), ((0,), (3,))), "abc,dcba->ad"),
    ((((2,), (1,)), ((1, 0), (2, 3))), "abc,dcba->bad"),
    ((((), ()), ((2, 0), (1, 3))), "abc,dcfa->cabdf"),
    ((((), ()), ((), ())), "abc,defg->abcdefg"),
]


def program(f, avals):
    """What a function of one result stages to."""
    return stage(lambda *xs: [f(*xs)], avals)[0]


@pytest.mark.parametrize(("numbers", "spelled"), LAYOUTS)
def test_axes_come_as_batch_then_left_then_right(numbers, spelled):
    assert_sums(lax.dot_general(A, B, numbers), np.einsum(spelled, A, B))


@pytest.mark.parametrize(("numbers", "spelled"), LAYOUTS)
def test_derivatives_are_contractions(numbers, spelled):
    def f(a, b):
        return lax.dot_general(a, b, numbers)

    da, db = np.cos(A), np.sin(B)
    out, tangent = jvp(f, (A, B), (da, db))
    expected = np.einsum(spelled, da, B) + np.einsum(spelled, A, db)
    assert_sums(tangent, expected)
    ct = np.cos(np.asarray(out))
    found_a, found_b = vjp(f, A, B)[1](ct)
    left, right, result = spelled.replace("->", ",").split(",")
    assert_sums(found_a, np.einsum(f"{result},{right}->{left}", ct, B))
    assert_sums(found_b, np.einsum(f"{result},{left}->{right}", ct, A))


@pytest.mark.parametrize(("numbers", "spelled"), LAYOUTS)
def test_batching_makes_one_contraction(numbers, spelled):
    left, right, result = spelled.replace("->", ",").split(",")
    for da, db in product((None, 0, 2), (None, 1, 4)):
        if da is None and db is None:
            continue
        a = A if da is None else np.stack([A, -A, A + 1], da)
        b = B if db is None else np.stack([B, 2 * B, B - 1], db)
        one = left if da is None else left[:da] + "z" + left[da:]
        two = right if db is None else right[:db] + "z" + right[db:]
        batched = vmap(lambda a, b: lax.dot_general(a, b, numbers), in_axes=(da, db))
        assert_sums(batched(a, b), np.einsum(f"{one},{two}->z{result}", a, b))
        avals = [ShapedArray(x.shape, x.dtype) for x in (a, b)]
        rows = [e.primitive.name for e in program(batched, avals).eqns]
        assert rows.count("dot_general") == 1 and set(rows) <= {"dot_general", "transpose"}


def test_the_gradient_of_a_product_of_matrices_transposes_nothing():
    avals = [ShapedArray(s, "float32") for s in ((3, 4), (4, 5), (3, 5))]
    jaxpr, _ = stage(lambda x, y, ct: list(vjp(lax.dot, x, y)[1](ct)), avals)
    assert [e.primitive.name for e in jaxpr.eqns] == ["dot_general"] * 3


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int32", "float16", ml_dtypes.bfloat16, "complex64"]
)
def test_element_types(dtype):
    x, y = (RNG.integers(-3, 4, s).astype(dtype) for s in ((3, 4), (4, 2)))
    exact = np.einsum("ij,jk->ik", x.astype(complex), y.astype(complex))
    expected = exact if dtype == "complex64" else exact.real.astype(np.int64).astype(dtype)
    assert_sums(lax.dot(x, y), expected.astype(dtype))


def test_booleans_contract_to_whether_any_pair_is_true():
    x, y = RNG.integers(0, 2, (3, 4)) > 0, RNG.integers(0, 2, (4, 2)) > 0
    assert_same(lax.dot(x, y), (x[:, :, None] & y[None]).any(1))


def test_results_accumulate_in_the_preferred_type():
    x = np.full((1, 8), 100, np.int8)
    assert_same(lax.dot(x, x.T, preferred_element_type=np.int32), np.array([[80000]], np.int32))
    y = np.full((1, 1000), 1, ml_dtypes.bfloat16)
    result = lax.dot(y, y.T, preferred_element_type=np.float32)
    assert_same(result, np.array([[1000]], np.float32))
    half = np.ones((2, 3), ml_dtypes.bfloat16)
    out, pull = vjp(lambda x: lax.dot(x, half.T, preferred_element_type=np.float32), half)
    assert out.dtype == np.float32 and pull(out)[0].dtype == half.dtype


def test_operands_of_two_types_promote():
    x, y = np.ones((2, 3), ml_dtypes.bfloat16), np.full((3, 2), 1 / 3, np.float32)
    assert_sums(lax.dot(x, y), np.ones((2, 2), np.float32))


def test_vectors_and_matrices():
    m, v = A[0], A[0, 0]
    for x, y in [(m, m.T), (m, v), (v, m.T), (v, v)]:
        assert_sums(lax.dot(x, y), np.dot(x, y))
    assert_sums(lax.batch_matmul(A, A.swapaxes(1, 2)), A @ A.swapaxes(1, 2))
    assert_sums(lax.dot(A, B, dimension_numbers=LAYOUTS[2][0]), np.einsum(LAYOUTS[2][1], A, B))
    assert_sums(lax.dot_general(m, 3.0, (((), ()), ((), ()))), m * 3)


def test_axes_may_be_lists_and_numpy_integers():
    numbers = ([[np.int64(2)], [1]], [[], []])
    assert_sums(lax.dot_general(A, B, numbers), np.einsum("abc,dcef->abdef", A, B))


@pytest.mark.parametrize(
    "precision", ["highest", "default", lax.Precision.HIGH, ("high", "float32")]
)
def test_precisions_by_name_and_per_operand(precision):
    assert_sums(lax.dot(A[0], A[0].T, precision=precision), A[0] @ A[0].T)


def test_precisions_are_written_by_name():
    assert (str(lax.Precision.HIGH), f"{lax.Precision.DEFAULT}") == ("HIGH", "DEFAULT")


def test_empty_contractions_are_zero():
    assert_same(lax.dot(A[0, :, :0], B[0, :0, 0]), np.zeros((3, 2), np.float32))
    assert np.shape(lax.dot(A[0, :0], B[0, :, 0])) == (0, 2)


def test_precisions_follow_their_operands_through_transposition():
    exact, fast = lax.Precision.HIGHEST, lax.Precision.DEFAULT
    avals = [ShapedArray(s, "float32") for s in ((3, 4), (4, 5), (3, 5))]

    def pulled(x, y, ct):
        return list(vjp(lambda x, y: lax.dot(x, y, precision=(exact, fast)), x, y)[1](ct))

    params = [e.params["precision"] for e in stage(pulled, avals)[0].eqns]
    assert set(params) == {(exact, fast)}  # the cotangent takes the place of its operand


def test_all_orders_of_contracted_axes_agree():
    expected = np.einsum("abc,dcba->d", A, B)
    pairs = [(0, 3), (1, 2), (2, 1)]
    for order in permutations(pairs):
        numbers = (tuple(zip(*order)), ((), ()))
        assert_sums(lax.dot_general(A, B, numbers), expected)
        _, result = vjp(lambda a, b, n=numbers: lax.dot_general(a, b, n), A, B)[1](expected)
        assert_sums(result, np.einsum("d,abc->dcba", expected, A))


@pytest.mark.parametrize(
    "lhs, rhs, result",
    [
        ("int8", "uint8", "int8"), ("uint16", "int16", "int16"), ("int16", "uint32", "uint32"),
        ("uint8", "int32", "int32"), ("float16", "bfloat16", "bfloat16"),
        ("int8", "float16", "float16"), ("bool", "uint8", "uint8"),
    ],
)  # fmt: skip
def test_products_of_two_element_types_have_the_wider(lhs: str, rhs: str, result: str) -> None:
    a, b = np.ones(3, np.dtype(lhs)), np.ones(3, np.dtype(rhs))
    for x, y in ((a, b), (b, a)):
        out = lax.dot(x, y)
        assert out.dtype == np.dtype(result) and (lhs == "bool" or float(out) == 3.0)


def test_sums_are_not_kept_in_types_that_cannot_hold_them() -> None:
    narrow = r"preferred_element_type int8 for products of type int32 at .*it is narrower"
    with pytest.raises(TypeError, match=narrow):
        lax.dot(np.ones(3, np.int32), np.ones(3, np.int32), preferred_element_type=np.int8)
    with pytest.raises(TypeError, match=r"float32 for products of type complex64 .*imaginary"):
        lax.dot(A[0] * 1j, A[0].T * 1j, preferred_element_type=np.float32)
    wide = np.ones((1, 1, 4), np.int32)
    with pytest.raises(TypeError, match=r"conv_general_dilated got preferred_element_type int8"):
        lax.conv(wide, wide, (1,), "VALID", preferred_element_type=np.int8)
    half = lax.dot(A[0], A[0].T, preferred_element_type=np.float16)
    np.testing.assert_allclose(half, A[0] @ A[0].T, rtol=1e-2, atol=1e-2)
