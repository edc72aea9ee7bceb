"""Products of floats of 8 bits of different types, which have no promotion."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_jit import jit

MATRIX = (((1,), (0,)), ((), ()))
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ("float8_e5m2", "float8_e4m3fn", "float8_e5m2"),
        ("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e5m2fnuz"),
        ("float8_e3m4", "float8_e4m3fn", "float8_e4m3fn"),
        ("float8_e4m3fn", "bfloat16", "bfloat16"),
        ("float16", "bfloat16", "bfloat16"),
    ],
)
def test_the_larger_exponents_hold_the_products(left: str, right: str, wanted: str) -> None:
    x, y = dnp.asarray(X, left), dnp.asarray(Y, right)
    assert lax.dot_general(x, y, MATRIX).dtype == wanted
    exact = X @ np.asarray(y.astype("float32"))
    for f in (lax.dot_general, jit(lax.dot_general, static_argnums=(2, 3, 4))):
        result = f(x, y, MATRIX, None, "float32")
        np.testing.assert_array_equal(result, exact)
    slope = grad(lambda v: lax.dot_general(v, y, MATRIX, None, "float32").sum())(x)
    assert slope.dtype == left
