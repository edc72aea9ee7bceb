"""``pmap`` on the devices that there are."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_sharding.pmap import pmap

X = np.arange(3.0, dtype=np.float32)[None]


def test_values_and_collectives():
    np.testing.assert_array_equal(pmap(lambda x: x + 1)(X), X + 1)
    np.testing.assert_array_equal(pmap(lambda x: lax.psum(x, "i"), "i")(X), X)
    scaled = pmap(lambda x, n, y: {"a": x * n + y}, static_broadcasted_argnums=1)
    np.testing.assert_array_equal(scaled(X, 3, X)["a"], 4 * X)
    np.testing.assert_array_equal(pmap(lambda x, y: x * y, in_axes=(0, None))(X, 2.0), 2 * X)
    columns = pmap(lambda x, *, y: x + y, in_axes=1, out_axes=1)
    np.testing.assert_array_equal(columns(X.T, y=dnp.ones(1)), X.T + 1)
    np.testing.assert_array_equal(pmap(grad(lambda x: (x**2).sum()))(dnp.asarray(X)), 2 * X)
    assert pmap(lambda x: x + 1).lower(X).compile()(X).shape == (1, 3)


def test_bad_input():
    def f(x):
        return x

    with pytest.raises(TypeError, match="pmap takes a function, got 3 of type int"):
        pmap(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"pmap of f at .*: the mapped axis has 2 elements, and"):
        pmap(f)(np.ones((2, 3)))
    with pytest.raises(ValueError, match="no argument is mapped"):
        pmap(lambda: 1)()
