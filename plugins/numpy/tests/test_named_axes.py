"""Reductions over axes of a map around the function, beside axes of the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap

X = np.array([[1.0, -2.0, 0.5], [4.0, 3.0, -1.0]], np.float32)
MASK = X > -1.5
OVER_NAMES = {
    "sum": lambda xp, x, axis: xp.sum(x, axis),
    "mean": lambda xp, x, axis: xp.mean(x, axis),
    "max": lambda xp, x, axis: xp.max(x, axis),
    "min": lambda xp, x, axis: xp.min(x, axis),
    "var": lambda xp, x, axis: xp.var(x, axis, ddof=1),
    "std": lambda xp, x, axis: xp.std(x, axis),
    "ptp": lambda xp, x, axis: xp.ptp(x, axis),
    "nansum": lambda xp, x, axis: xp.nansum(x, axis),
    "count_nonzero": lambda xp, x, axis: xp.count_nonzero(x > 0, axis),
    "of integers": lambda xp, x, axis: xp.sum(x, axis, dtype=int),
    "with an initial value": lambda xp, x, axis: xp.sum(x, axis, initial=2.0),
    "at least": lambda xp, x, axis: xp.max(x, axis, initial=3.5),
}


@pytest.mark.parametrize("f", OVER_NAMES.values(), ids=OVER_NAMES)
@pytest.mark.parametrize("axis", ["i", ("i", 0), (0, "i"), ("i",)], ids=str)
def test_names_are_axes_of_the_map(f: Callable[..., Any], axis: Any) -> None:
    out = vmap(lambda row: f(dnp, row, axis), axis_name="i")(X)
    whole = f(np, X, (0, 1) if 0 in (*axis,) else 0)
    np.testing.assert_allclose(out, np.broadcast_to(whole, out.shape), rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std"])
def test_masks_count_what_all_instances_have(name: str) -> None:
    def f(row: Any, mask: Any) -> Any:
        return getattr(dnp, name)(row, ("i", 0), where=mask, keepdims=True)

    out = vmap(f, axis_name="i")(X, MASK)
    assert out.shape == (2, 1)
    np.testing.assert_allclose(out, np.full((2, 1), getattr(np, name)(X, where=MASK)), rtol=1e-6)


def test_complex_numbers_and_nested_maps() -> None:
    z = (X + 1j * X[::-1]).reshape(2, 3, 1)
    f = vmap(vmap(lambda v: dnp.var(v, ("i", "j", 0)), axis_name="j"), axis_name="i")
    np.testing.assert_allclose(f(z), np.full((2, 3), np.var(z)), rtol=1e-6)


def test_gradients_reach_all_instances() -> None:
    def loss(x: Any) -> Any:
        return dnp.sum(vmap(lambda row: row * dnp.var(row, "i"), axis_name="i")(x))

    eps = 1e-2
    steps = [np.where(np.arange(6).reshape(2, 3) == i, np.float32(eps), 0) for i in range(6)]
    slopes = [(loss(X + d) - loss(X - d)) / (2 * eps) for d in steps]
    np.testing.assert_allclose(grad(loss)(X).ravel(), slopes, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("name", ["prod", "any", "all", "median"])
def test_what_is_not_defined_over_names(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{name} is not.*named axes.*'i'.*psum"):
        vmap(lambda row: getattr(dnp, name)(row, axis="i"), axis_name="i")(X)


def test_names_must_be_bound() -> None:
    with pytest.raises(NameError, match="axis name 'k' is not bound here"):
        vmap(lambda row: dnp.sum(row, axis="k"), axis_name="i")(X)
