"""Distributions against SciPy's in double precision: values, tails, ends, derivatives."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
import pytest
import scipy.stats

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

SHAPES: dict[str, list[list[float]]] = {
    "bernoulli": [[0.3, 0.0, 1.0, 1e-6]],
    "beta": [[0.5, 2.0, 30.0, 1500.0, 1.0], [0.7, 3.0, 12.0, 900.0, 5.0]],
    "betabinom": [[5, 20, 30, 0], [0.5, 2, 10, 1], [0.7, 1, 4, 1]],
    "binom": [[5, 20, 1000, 0], [0.3, 0.01, 0.5, 0.2]],
    "cauchy": [],
    "chi2": [[0.5, 2, 11, 400, 3000]],
    "expon": [],
    "gamma": [[0.1, 1, 5.5, 40, 2000]],
    "gennorm": [[0.4, 1, 2, 8]],
    "geom": [[0.3, 1.0, 1e-3, 0.9]],
    "gumbel_l": [],
    "gumbel_r": [],
    "laplace": [],
    "logistic": [],
    "nbinom": [[0.5, 4, 30, 700], [0.3, 0.9, 0.5, 0.4]],
    "norm": [],
    "pareto": [[0.3, 1, 5, 70]],
    "poisson": [[0.1, 3, 40, 2000, 0]],
    "t": [[0.5, 1, 5, 40, 1e4]],
    "truncnorm": [[-1, 0.5, 3, -9, -20, 30], [2, 4, 40, -4, 20, 32]],
    "uniform": [],
    "vonmises": [[0.1, 1, 10, 900]],
    "wrapcauchy": [[0.01, 0.5, 0.99]],
}
FUNCTIONS = [
    (name, kind)
    for name in SHAPES
    for kind in import_module(f"dovetail_scipy.stats.{name}").__all__
    if kind != "entropy"
]
ALL = pytest.mark.parametrize(("name", "kind"), FUNCTIONS)
DISCRETE = [n for n, k in FUNCTIONS if k == "pmf"]


def pair(name: str, kind: str) -> tuple[Any, Any]:
    module = import_module(f"dovetail_scipy.stats.{name}")
    return getattr(module, kind), getattr(getattr(scipy.stats, name), kind)


def arguments(name: str, kind: str) -> tuple[Any, ...]:
    """Points where the distribution is, in its tails and beside, for parameters along rows."""
    shapes = [np.asarray(s, float)[:, None] for s in SHAPES[name]]
    theirs = getattr(scipy.stats, name)
    if kind in ("ppf", "isf"):
        return np.asarray([0, 1e-30, 1e-6, 0.1, 0.31, 0.5, 0.75, 0.999, 1, -1, 2, np.nan]), *shapes
    q = np.asarray([1e-12, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.95, 1 - 1e-7])
    middle = theirs.ppf(q, *shapes)
    spread = theirs.ppf(0.9, *shapes) - theirs.ppf(0.1, *shapes)
    far = np.asarray([-40, -10, 10, 40]) * np.maximum(spread, 1) + theirs.ppf(0.5, *shapes)
    ends = np.broadcast_to([-np.inf, np.inf, np.nan, 0, 1, -1, 2.5], (*middle.shape[:-1], 7))
    points = np.concatenate([middle, far, ends], -1)
    return np.round(points, 1) if name in DISCRETE else points, *shapes


# Digits of float64 that these lose to SciPy's, or SciPy's to these (gamma's and beta's functions,
# or differences of logarithms, of large arguments).
LOOSE = {"gennorm": 1e-10, "beta": 2e-10, "betabinom": 1e-10, "binom": 2e-10, "nbinom": 2e-10}


@ALL
def test_values(name: str, kind: str) -> None:
    """The results of float64 are SciPy's, those of float32 those of the arguments it has."""
    ours, theirs = pair(name, kind)
    args = arguments(name, kind)
    with np.errstate(all="ignore"):
        wanted = theirs(*args)
        single = [np.asarray(a, np.float32) for a in args]
        wanted32 = theirs(*(a.astype(float) for a in single))
        if kind in ("ppf", "isf") and name == "bernoulli":
            wanted, wanted32 = np.maximum(wanted, 0), np.maximum(wanted32, 0)
    with enable_x64(True):
        found = ours(*args)
    tolerance = LOOSE.get(name, 1e-11)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-300)
    tiny = 0 if kind.startswith("log") else 1e-36
    np.testing.assert_allclose(ours(*single), wanted32, rtol=3e-5, atol=tiny)


def is_scaled(f: Any) -> bool:
    return "scale" in signature(f).parameters


@ALL
def test_location_and_scale(name: str, kind: str) -> None:
    ours, theirs = pair(name, kind)
    x, *shapes = arguments(name, kind)
    shapes = [s[1:2] for s in shapes]
    x = x[1] if x.ndim > 1 else x
    names = signature(ours).parameters
    moved = {n: v for n, v in {"loc": 2.0, "scale": 3.0}.items() if n in names}
    if kind not in ("ppf", "isf"):
        x = x * moved.get("scale", 1) + moved.get("loc", 0)
    with np.errstate(all="ignore"), enable_x64(True):
        wanted = theirs(x, *shapes, **moved)
        if kind in ("ppf", "isf") and name == "bernoulli":
            wanted = np.maximum(wanted, 0)
        rtol = 10 * LOOSE.get(name, 1e-11)
        np.testing.assert_allclose(ours(x, *shapes, **moved), wanted, rtol=rtol, atol=1e-300)
        if "scale" in moved:
            assert np.all(np.isnan(ours(x, *shapes, scale=[-1.0] and -1.0)))
