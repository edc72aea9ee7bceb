"""Results and errors by element type that a comparison with JAX found."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_core import enable_x64
from dovetail_lax.dtypes import numpy_dtype_promotion

X, TRUE = dnp.asarray(3), dnp.asarray(2.0) > 1


@pytest.mark.parametrize("wide", [False, True])
def test_powers_of_booleans_and_of_weak_numbers(wide: bool) -> None:
    with enable_x64(wide):
        whole = np.dtype("int64" if wide else "int32")
        for result, dtype, weak in (
            (True ** dnp.asarray(3), "int32", False),
            (dnp.bool_(1) ** dnp.int8(1), "int32", False),
            (dnp.bool_(1) ** dnp.bool_(1), "int32", False),
            (dnp.asarray(3) ** dnp.bool_(1), whole, False),
            (dnp.asarray(3) ** True, whole, True),
            (dnp.float16(2) ** True, "float16", False),
        ):
            assert result.dtype == dtype and result.weak_type == weak
        assert (dnp.asarray(2.0) ** dnp.int8(1)).weak_type
        assert not (dnp.asarray(2.0) ** dnp.arange(3)).weak_type


@pytest.mark.parametrize("wide", [False, True])
def test_the_logarithm_of_a_complex_determinant_is_real(wide: bool) -> None:
    with enable_x64(wide):
        sign, log = dnp.linalg.slogdet(np.eye(2) * 2j)
        assert log.dtype == (np.float64 if wide else np.float32)
        np.testing.assert_allclose(log, 2 * np.log(2), rtol=1e-6)
        assert sign.dtype == (np.complex128 if wide else np.complex64)


def test_the_greatest_of_small_integers() -> None:
    x = dnp.array([1, 3]).astype("int4")
    assert dnp.nanmax(x) == 3 and dnp.nanargmin(x) == 0 and dnp.nansum(x) == 4


def test_classes_of_errors() -> None:
    with pytest.raises(ValueError, match="dtype must be an element type"):
        dnp.zeros(2, dtype=dnp.ones(2))
    with pytest.raises(IndexError, match="int"):
        dnp.ones(3)[int]


@pytest.mark.parametrize("wide", [False, True])
def test_python_integers_too_large_for_weak_types_are_refused(wide: bool) -> None:
    large = 2**63 if wide else 2**31
    with enable_x64(wide):
        for f in (
            lambda: X + large, lambda: large + TRUE, lambda: large > X, lambda: dnp.add(1, large),
            lambda: dnp.where(True, X, large), lambda: dnp.ones(2, bool) * large,
        ):  # fmt: skip
            with pytest.raises(OverflowError):
                f()
        assert (X + (large - 4)).dtype == np.dtype("int64" if wide else "int32")


def test_round_gives_integers_of_the_default_type() -> None:
    for dtype in ("int8", "int4", "float16"):
        result = round(dnp.ones((), dtype))
        assert result.dtype == np.int32 and result == 1
    assert not round(X).weak_type and round(dnp.ones((), "uint8"), 1).dtype == np.uint8


def test_none_is_the_default_float_among_dtypes() -> None:
    assert dnp.result_type(None) == dnp.result_type(None, dnp.float16) == np.float32


BASES = [("float32", "int32"), ("int8", "int32"), ("complex64", "uint8"), ("bfloat16", "int16")]


@pytest.mark.parametrize(("base", "exponent"), BASES)
def test_powers_of_integers_where_promotion_is_strict(base: str, exponent: str) -> None:
    with numpy_dtype_promotion("strict"):
        result = dnp.full(2, 2, base) ** dnp.asarray(3, exponent)
        assert result.dtype == base and result.tolist() == [8, 8]
        with pytest.raises(ValueError, match="promotion"):
            dnp.asarray(3, exponent) ** dnp.full(2, 2, "float32")
        with pytest.raises(ValueError, match="promotion"):
            dnp.ones(2) ** dnp.arange(2)


def test_vander_where_promotion_is_strict() -> None:
    with numpy_dtype_promotion("strict"):
        np.testing.assert_array_equal(dnp.vander(dnp.arange(3.0))[2], [4, 2, 1])
    with pytest.raises(TypeError, match="'standard' or 'strict', not True"):
        numpy_dtype_promotion(True)
