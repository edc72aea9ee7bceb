"""Containers that ``vmap`` maps as wholes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail_batching import register_vmappable, unregister_vmappable


@dataclass
class Rows:
    """Arrays of which ``count`` says how many rows they have."""

    values: Any
    scale: Any
    count: int


dovetail.tree_util.register_pytree_node(
    Rows, lambda x: ((x.values, x.scale), x.count), lambda count, xs: Rows(*xs, count)
)


@pytest.fixture
def rows():
    def element(cont, size, x, axis):
        return Rows(cont(x.values, axis), cont(x.scale, None), 0)

    def whole(cont, size, x, axis):
        return Rows(cont(x.values, axis), cont(x.scale, None), size)

    register_vmappable(Rows, int, int, element, whole, None)
    yield Rows(np.arange(6.0).reshape(3, 2), np.float32(2), 3)
    unregister_vmappable(Rows)


def test_wholes(rows):
    seen = []

    def f(x, y):
        seen.append((x.count, x.values.shape, x.scale))
        return Rows(x.values * y, x.scale, x.count), {"sum": x.values.sum() * x.scale}

    y = np.array([1.0, 2.0, 3.0])
    found, others = dovetail.vmap(f)(rows, y)
    assert seen[0][:2] == (0, (2,)) and found.count == 3 and found.scale == 2
    np.testing.assert_allclose(found.values, rows.values * y[:, None])
    np.testing.assert_allclose(others["sum"], rows.values.sum(1) * 2)
    found, _ = dovetail.vmap(f, in_axes=(1, None), out_axes=(1, 0))(rows, np.float32(3))
    assert found.count == 2
    np.testing.assert_allclose(found.values, rows.values * 3)
    found = dovetail.vmap(lambda x, y: x.values.sum() * y, in_axes=(None, 0))(rows, y)
    np.testing.assert_allclose(found, rows.values.sum() * y)
    nested = dovetail.vmap(lambda p: p["a"][0].values.sum(), in_axes=({"a": [0]},))
    np.testing.assert_allclose(nested({"a": [rows]}), rows.values.sum(1))
    found = dovetail.vmap(lambda y, x: x.values * y)(y, x=rows)
    np.testing.assert_allclose(found, rows.values * y[:, None])


def test_errors(rows):
    with pytest.raises(TypeError, match="expected int or None for Rows"):
        dovetail.vmap(lambda x: x, in_axes=(Rows(0, 0, 0),))(rows)
    with pytest.raises(ValueError, match=r"args\[0\] has type f32\[3,2\].*length 3"):
        dovetail.vmap(lambda x, y: y)(rows, dnp.ones(4))
    with pytest.raises(ValueError, match="Rows is registered already"):
        register_vmappable(Rows, int, int, None, None)
