"""What users see of ``shift``: values and errors."""

from __future__ import annotations

import dovetail
import numpy as np
import pytest

from dovetail_acme import shift


@pytest.mark.parametrize(
    ("by", "expected"), [(1, [0, 1, 2]), (-2, [3, 0, 0]), (0, [1, 2, 3]), (9, [0, 0, 0])]
)
def test_values(by: int, expected: list[int]):
    x = np.array([1, 2, 3], np.int32)
    assert shift(x, by).tolist() == expected
    assert dovetail.jit(shift, static_argnums=1)(x, by).tolist() == expected


def test_axes_count_from_the_last():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(shift(x, 1, axis=-1), shift(x, 1, axis=1))


def test_an_axis_that_is_not_there():
    with pytest.raises(TypeError) as e:
        shift(np.zeros(3, np.float32), 1, axis=1)
    assert "along axis 1 of a value of type f32[3], which has 1 axes" in str(e.value)
