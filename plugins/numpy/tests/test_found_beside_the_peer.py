"""Results that differed from the peer's, or from NumPy's, for no good reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_core import enable_x64


def test_inserted_values_become_of_the_arrays_type() -> None:
    found = dnp.insert(dnp.array([1, 2, 3]), 1, 2.7)
    assert found.dtype == np.int32 and found.tolist() == [1, 2, 2, 3]
    assert dnp.insert(dnp.ones(2), [0, 2], np.array([1, 2])).tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32"])
def test_powers_in_columns_keep_the_type(dtype: str) -> None:
    found = dnp.vander(dnp.array([1, 2, 3], dtype), 3)
    assert found.dtype == dtype and found.tolist() == np.vander([1, 2, 3], 3).tolist()


def test_types_of_indices_and_counts_with_64_bits() -> None:
    with enable_x64(True):
        places = np.array([0, 1], np.int32)
        assert dnp.argpartition(dnp.arange(4.0), 1).dtype == np.int32
        assert dnp.ravel_multi_index((places, places), (3, 3), mode="clip").dtype == np.int32
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
    found = dnp.pad(dnp.array([np.inf, 1.0]), 2, "linear_ramp", end_values=3.0)
    assert found[0] == 3.0 and found[-1] == 3.0


def test_determinants_of_16_bits() -> None:
    x = dnp.array([[1.0, 2.0], [3.0, 5.0]], "float16")
    assert dnp.linalg.det(x).dtype == np.float16 and float(dnp.linalg.det(x)) == -1.0


def test_unwrapped_integers_are_strongly_typed() -> None:
    assert not dnp.unwrap(dnp.array([1, 8])).weak_type
