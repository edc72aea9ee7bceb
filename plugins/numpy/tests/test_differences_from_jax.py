"""Results that differed from the peer's, or from NumPy's, for no good reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_core import ConcretizationTypeError, enable_x64
from dovetail_jit import jit
from dovetail_lax import sin as dv_sin
from dovetail_lax.dtypes import numpy_dtype_promotion


def test_inserted_values_become_of_the_arrays_type() -> None:
    result = dnp.insert(dnp.array([1, 2, 3]), 1, 2.7)
    assert result.dtype == np.int32 and result.tolist() == [1, 2, 2, 3]
    assert dnp.insert(dnp.ones(2), [0, 2], np.array([1, 2])).tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32"])
def test_powers_in_columns_keep_the_type(dtype: str) -> None:
    result = dnp.vander(dnp.array([1, 2, 3], dtype), 3)
    assert result.dtype == dtype and result.tolist() == np.vander([1, 2, 3], 3).tolist()


def test_types_of_indices_and_counts_with_64_bits() -> None:
    with enable_x64(True):
        positions = np.array([0, 1], np.int32)
        assert dnp.argpartition(dnp.arange(4.0), 1).dtype == np.int32
        assert dnp.ravel_multi_index((positions, positions), (3, 3), mode="clip").dtype == np.int32
        assert dnp.sort_complex(dnp.array([2, 1])).dtype == np.complex128
        assert dnp.linalg.lstsq(dnp.eye(2), dnp.ones(2))[2].dtype == np.int64


def test_derivatives_where_neighbours_are_equal() -> None:
    slope = grad(lambda x: dnp.percentile(x, 30.0))(dnp.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(slope, [0.4, 0.6, 0.0], rtol=1e-5)
    infinite = dnp.array([-np.inf, -np.inf, 1.0])
    assert dnp.quantile(infinite, 0.3) == -np.inf
    slope = grad(lambda x: dnp.quantile(x, 0.3))(infinite)
    assert not np.isnan(slope).any()


def test_polynomials_without_coefficients_and_of_booleans() -> None:
    assert dnp.polymul(dnp.zeros(0), dnp.zeros(0)).tolist() == [0.0]
    assert dnp.polymul(dnp.zeros(0), dnp.ones(2)).tolist() == [0.0, 0.0]
    yes: Any = dnp.array([True, True])
    assert dnp.polyval(yes, yes).tolist() == [True, True]
    assert dnp.polyval(dnp.array([True, False]), dnp.array([False, True])).tolist() == [False, True]


def test_cut_off_zeros_have_derivatives() -> None:
    x = dnp.array([0.0, 2.0, 3.0, 0.0])
    assert grad(lambda x: dnp.sum(dnp.trim_zeros(x) ** 2))(x).tolist() == [0.0, 4.0, 6.0, 0.0]


def test_a_ramp_begins_at_its_end_value() -> None:
    result = dnp.pad(dnp.array([np.inf, 1.0]), 2, "linear_ramp", end_values=3.0)
    assert result[0] == 3.0 and result[-1] == 3.0


def test_determinants_of_16_bits() -> None:
    x = dnp.array([[1.0, 2.0], [3.0, 5.0]], "float16")
    assert dnp.linalg.det(x).dtype == np.float16 and float(dnp.linalg.det(x)) == -1.0


def test_unwrapped_integers_are_strongly_typed() -> None:
    assert not dnp.unwrap(dnp.array([1, 8])).weak_type


@pytest.mark.parametrize(
    "two", [np.int64(2), np.array(2), dnp.int32(2)], ids=["scalar", "ndarray", "array"]
)
def test_powers_with_known_exponents_have_the_type_of_the_base(two: Any) -> None:
    for base in (dnp.array([3, 4], "int8"), dnp.array([3, 4], "float16")):
        result = base**two
        assert result.dtype == base.dtype and result.tolist() == [9, 16]
        assert dnp.power(base, two).dtype == base.dtype
    assert (3**two).tolist() == 9
    assert (dnp.array(True) ** two).dtype == np.int32
    with pytest.raises(TypeError, match="negative powers"):
        dnp.array([2]) ** -two


def test_a_known_exponent_of_a_plain_integer_leaves_it_weakly_typed() -> None:
    result = 2 ** dnp.uint8(3)
    assert result.aval.weak_type and result.dtype == np.int32 and result.tolist() == 8


def test_narrow_types_are_rounded() -> None:
    assert dnp.round(dnp.array([1.5, 3.25], "float8_e4m3fn")).tolist() == [2, 3]
    assert dnp.round(dnp.array([1, -3], "int4")).tolist() == [1, -3]
    assert dnp.ldexp(dnp.array([1.0]), dnp.array([1], "int4")).tolist() == [2]


def test_limits_are_instances_of_their_classes() -> None:
    assert isinstance(dnp.finfo("bfloat16"), dnp.finfo)
    assert isinstance(dnp.iinfo("int4"), dnp.iinfo) and not isinstance(3, dnp.iinfo)


class _Own:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.value, dtype)


def test_objects_that_are_arrays_to_numpy_are_elements() -> None:
    assert dnp.array([_Own(1.0), 3]).tolist() == [1, 3]
    assert dnp.array([dnp.ones(2), _Own([1.0, 2.0])]).tolist() == [[1, 1], [1, 2]]


def test_types_of_norms_and_antiderivatives_of_narrow_integers() -> None:
    with enable_x64(True):
        assert dnp.linalg.vector_norm(dnp.array([3, 4], "int32")).dtype == np.float64
        assert dnp.polyint(dnp.array([True, False])).dtype == np.float64


def test_indices_of_nothing_are_strongly_typed() -> None:
    assert not dnp.nonzero(dnp.zeros(0), size=2)[0].aval.weak_type


def test_a_traced_fill_value_must_be_known() -> None:
    with pytest.raises(ConcretizationTypeError, match="fill_value must be concrete"):
        jit(lambda v: dnp.arange(5).at[9].get(mode="fill", fill_value=v))(3)


def test_numbers_are_looked_for_in_vectors() -> None:
    assert 2 in dnp.arange(3) and 3 not in dnp.arange(3)
    with pytest.raises(ValueError, match=r"the array must have 1 dimensions, got shape \(2, 2\)"):
        1 in dnp.ones((2, 2))  # noqa: B015
    with pytest.raises(ValueError, match=r"the value must have 0 dimensions"):
        dnp.ones(1) in dnp.ones(3)  # noqa: B015


class _Standing:
    def __jax_array__(self) -> Any:
        return dnp.asarray(1.0)


def test_where_nothing_converts_objects_that_could_be_arrays() -> None:
    for refused in (lambda x: jit(lambda v: v)(x), grad(lambda v: v), dv_sin):
        with pytest.raises(ValueError, match="not a valid array value"):
            refused(_Standing())
        with pytest.raises(TypeError):
            refused(_Standing())
    assert dnp.isscalar(_Standing()) and not dnp.asarray(_Standing()).aval.weak_type


def test_types_are_promoted_strictly_where_that_is_asked_for() -> None:
    with numpy_dtype_promotion("strict"):
        assert dnp.promote_types("int8", int) == np.int8
        with pytest.raises(ValueError, match="no implicit promotion"):
            dnp.promote_types("int8", "int16")
