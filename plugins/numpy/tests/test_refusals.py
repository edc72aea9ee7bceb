"""Arguments that JAX refuses or takes in a way of its own: classes of errors, warnings, values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union, get_origin

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_numpy.promotion import numpy_rank_promotion
from dovetail_numpy.typing import ArrayLike, DTypeLike

X = dnp.arange(6.0).reshape(2, 3)
F = dnp.array([3.0, 1.0, 2.0])
M = dnp.array([[2.0, 1.0], [1.0, 3.0]])

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "arange of vectors": (lambda: dnp.arange(F), ValueError, "must be scalars"),
    "meshgrid of a scalar": (lambda: dnp.meshgrid(F, 1), ValueError, r"takes vectors, got .*\(\)"),
    "block of tuples": (lambda: dnp.block([(F, F)]), ValueError, "lists, not tuples"),
    "ix_ of a list": (lambda: dnp.ix_([1]), TypeError, "requires an array"),
    "ravel_multi_index of lists": (
        lambda: dnp.ravel_multi_index(([0], [1]), (2, 3)), TypeError, "requires an array"),
    "nothing written": (lambda: X.at[0].set(None), ValueError, "None is no value to write"),
    "std in integers": (lambda: dnp.std(X, dtype=int), ValueError, "must be inexact"),
    "numbers as a mask": (lambda: dnp.nanmean(X, where=1), ValueError, "a boolean array"),
    "cond of nothing": (lambda: dnp.linalg.cond(dnp.ones((0, 0))), ValueError, "no elements"),
    "a chain that does not fit": (
        lambda: dnp.linalg.multi_dot([M, F]), ValueError, r"\(2, 2\), \(3, 1\)"),
    "reduceat at fractions": (
        lambda: dnp.add.reduceat(F, dnp.array([0.0])), ValueError, r"integers .*f32\[1\]"),
    "reduceat of a list": (lambda: dnp.add.reduceat(F, [0, 2]), TypeError, "requires an array"),
    "reduceat without axis": (
        lambda: dnp.add.reduceat(X, dnp.array([0]), axis=None), ValueError, "needs one axis"),
    "accumulate without axis": (
        lambda: dnp.subtract.accumulate(X, axis=None), ValueError, "needs one axis"),
    "reduction over several axes": (
        lambda: dnp.subtract.reduce(X, axis=(0, 1)), NotImplementedError, "tuple of axes"),
    "mask without identity": (
        lambda: dnp.subtract.reduce(X, where=X > 2), ValueError, "mask where, and no initial"),
    "signature without results": (
        lambda: dnp.vectorize(dnp.sum, signature="(n)->")(F), ValueError, "is not a signature"),
    "core dimensions of results": (
        lambda: dnp.vectorize(lambda a: a, signature="(n)->()")(F), ValueError, r"shape \(3,\)"),
    "None with core dimensions": (
        lambda: dnp.vectorize(dnp.add, signature="(n),(n)->(n)")(F, None), ValueError,
        "argument 1 is None"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, error, said = REFUSED[case]
    with pytest.raises(error, match=said):
        call()


def test_shapes_of_what_is_no_array_are_deprecated() -> None:
    for function, value, result in ((dnp.ndim, [1, 2], 1), (dnp.shape, ((1, 2),), (1, 2)),
                                   (dnp.size, object(), 1)):  # fmt: skip
        with pytest.warns(DeprecationWarning, match="is no array, will fail"):
            assert function(value) == result
    assert dnp.ndim(3) == 0
    assert dnp.shape(np.ones(2)) == (2,)


def test_singular_values_are_compared_with_an_absolute_tolerance() -> None:
    s = np.linalg.svd(np.asarray(M), compute_uv=False)  # 3.6 and 1.4
    for limit in (1.0, 2.0, 4.0):
        assert dnp.linalg.matrix_rank(M, limit) == (s > limit).sum()
        assert dnp.linalg.matrix_rank(M, tol=limit) == (s > limit).sum()
    both = dnp.linalg.matrix_rank(dnp.stack([M, M]), dnp.array([1.0, 2.0]))
    assert both.tolist() == [2, 1]


def test_determinants_of_halves() -> None:
    sign, size = dnp.linalg.slogdet(M.astype(dnp.bfloat16))
    assert (sign.dtype, size.dtype, float(sign)) == (dnp.bfloat16, dnp.bfloat16, 1.0)
    assert float(size) == pytest.approx(np.log(5), rel=1e-2)


def test_ufuncs_fold_under_a_mask() -> None:
    x, mask = np.asarray(X), np.asarray(X) > 2
    want = np.subtract.reduce(x, where=mask, initial=1)
    assert dnp.subtract.reduce(X, where=X > 2, initial=1).tolist() == want.tolist()
    assert float(dnp.subtract.reduce(X, axis=None)) == -15
    whole = dnp.subtract.reduce(X, axis=None, where=X > 2, initial=1)
    assert float(whole) == 1 - 3 - 4 - 5
    assert dnp.subtract.reduce(X, axis=None, keepdims=True).shape == (1, 1)
    plus = dnp.frompyfunc(lambda a, b: a + b, 2, 1, identity=0)
    assert plus.reduce(X, where=X > 2).tolist() == np.add.reduce(x, where=mask).tolist()
    assert dnp.add.accumulate(X, axis=None).tolist() == np.add.accumulate(x.ravel()).tolist()
    assert dnp.add.accumulate(1.0).shape == (1,)


def test_numbers_in_signatures_are_names_of_dimensions() -> None:
    x = np.arange(9.0, dtype=np.float32).reshape(3, 3)
    for signature in ("(2)->()", "(2)->(2)", "(2,2)->()"):
        f = (lambda a: a * 2) if signature.endswith("(2)") else (lambda a: a.sum())
        want = np.vectorize(f, signature=signature)(x)
        assert dnp.vectorize(f, signature=signature)(x).tolist() == want.tolist()
    with pytest.raises(ValueError, match=r"'2' of .* has size 2 in argument 1 .* but 3 is wanted"):
        dnp.vectorize(lambda a, b: a, signature="(2),(2)->()")(x, x[:, :2])


def test_aliases_of_types_join_with_names_of_types() -> None:
    for alias in (ArrayLike, DTypeLike):
        assert get_origin(alias) is Union and "Mine" in str(alias | "Mine")
        assert "Mine" in str("Mine" | alias)


def test_vectorized_functions_take_lists_and_nothing() -> None:
    assert dnp.vectorize(lambda a, b: a + b)([1.0, 2.0, 3.0], F).tolist() == [4, 3, 5]
    assert dnp.vectorize(lambda a, b: a)(F, None).tolist() == F.tolist()
    mapped = dnp.vectorize(lambda a, b: a, signature="(n),()->(n)")
    assert mapped(X, None).tolist() == X.tolist()


def test_sets() -> None:
    whole = dnp.array([3, 1, 2])
    assert dnp.setdiff1d(whole, X).dtype == whole.dtype
    rows = dnp.unique(X, axis=0, size=3, fill_value=F)
    assert rows.tolist() == [[0, 1, 2], [3, 4, 5], [3, 1, 2]]
    result = dnp.intersect1d(whole, dnp.array([2, 9]), size=3, return_indices=True)
    assert [v.tolist() for v in result] == [[2, 2, 2], [2, 3, 3], [0, 2, 2]]


def test_derivatives_of_columns_of_coefficients() -> None:
    assert dnp.polyder(X).tolist() == [[0, 1, 2]]
    assert dnp.polyder(F).tolist() == np.polyder(np.asarray(F)).tolist()


def test_functions_to_which_rank_promotion_does_not_apply() -> None:
    row = dnp.arange(3.0)
    with numpy_rank_promotion("raise"):
        assert dnp.where(X > 1, row, 0.0).shape == (2, 3)
        assert [a.shape for a in dnp.broadcast_arrays(row, X)] == [(2, 3)] * 2
        assert dnp.heaviside(X, row).shape == (2, 3)
        with pytest.raises(ValueError, match="different numbers of axes"):
            X + row


def test_questions_about_what_is_no_array() -> None:
    assert not dnp.iscomplexobj("a")
    assert dnp.isrealobj(None)


def test_signs_of_four_bits() -> None:
    x = dnp.array([1, -3]).astype("int4")
    assert dnp.signbit(x).tolist() == [False, True]
    assert dnp.angle(x).dtype == np.float32
