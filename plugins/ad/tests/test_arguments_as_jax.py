"""Classes of errors of tangents, and examples of 64-bit types for the transpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import jvp, linear_transpose, linearize, vjp
from dovetail_core import float0


@pytest.mark.parametrize(
    ("primal", "tangent", "error"),
    [
        (dnp.ones(3), 1, TypeError),  # element type and shape differ
        (dnp.ones(3), dnp.ones(3, "float16"), TypeError),
        (dnp.ones(3), dnp.ones(2), ValueError),
        (dnp.arange(3), np.zeros(2, float0), ValueError),
    ],
)
def test_tangents_that_do_not_fit(primal: Any, tangent: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="the tangent at"):
        jvp(lambda x: x, (primal,), (tangent,))


def test_float0_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"float0\[3\]"):
        linearize(lambda x: x * 2, 1)[1](np.zeros(3, float0))
    with pytest.raises(ValueError, match=r"float0\[3\]"):
        vjp(lambda x: x * 2, 1)[1](np.zeros(3, float0))


def test_examples_of_a_transpose_are_of_canonical_types() -> None:
    (result,) = linear_transpose(lambda x: x * 2, np.ones(3))(dnp.ones(3))
    assert result.dtype == np.float32


def test_zeros_that_stand_for_no_derivative() -> None:
    for made in (dnp.zeros((2,), float0), dnp.zeros_like(np.zeros((2,), float0))):
        assert isinstance(made, np.ndarray) and made.dtype == float0 and made.shape == (2,)
