"""Sums of exponentials of huge numbers, whose maximum is computed apart from the exponents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import dovetail_lax as lax
import dovetail_nn as nn
import dovetail_numpy as dnp
from dovetail import grad, jacfwd, jit, random, vmap
from dovetail_core import enable_x64
from dovetail_scipy import special as dspecial

pytestmark = pytest.mark.usefixtures("optimized")

BEFORE = {
    "quotient": lambda x: x / 0.3,
    "product": lambda x: x * 3.1,
    "sum of products": lambda x: x * 1.7 + x * 0.3,
    "masked": lambda x: dnp.where(x > 0, x * 1.3, -np.inf),
    "negated": lambda x: (x - 1.7) * -0.77,
}

OF_ROWS = {
    "softmax": (nn.softmax, special.softmax),
    "exp(log_softmax)": (lambda x: dnp.exp(nn.log_softmax(x)), special.softmax),
    "softmax where": (lambda x: nn.softmax(x, where=x < np.inf), special.softmax),
    "scipy softmax": (lambda x: dspecial.softmax(x, axis=-1), special.softmax),
    "logsumexp": (lambda x: nn.logsumexp(x, axis=-1), special.logsumexp),
    "logsumexp of factors": (
        lambda x: nn.logsumexp(x, axis=-1, b=dnp.ones_like(x)), special.logsumexp),
    "logaddexp": (lambda x: dnp.logaddexp(x[..., 0], x[..., 1]),
                  lambda x, axis: np.logaddexp(x[..., 0], x[..., 1])),
    "lax.cumlogsumexp": (lambda x: lax.cumlogsumexp(x, axis=x.ndim - 1)[..., -1],
                         special.logsumexp),
}  # fmt: skip


def _rows(dtype: Any) -> np.ndarray:
    scale = 3e9 if dtype == np.float32 else 3e18
    return (np.random.default_rng(0).uniform(0.9, 1, (40, 3)) * scale).astype(dtype)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", OF_ROWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_numbers(name: str, before: str, dtype: Any) -> None:
    """Values are those of what is rounded before, and finite in one program with it as well."""
    (f, wanted), b = OF_ROWS[name], BEFORE[before]
    with enable_x64(dtype == np.float64):
        x = _rows(dtype)
        rounded = np.asarray(b(dnp.asarray(x)))
        for run in (jit(lambda x: f(b(x))), jit(vmap(lambda x: f(b(x))))):
            np.testing.assert_allclose(run(x), wanted(rounded, axis=-1), rtol=2e-6)


@pytest.mark.parametrize("name", OF_ROWS)
def test_derivatives_of_huge_numbers(name: str) -> None:
    """Derivatives are finite, in both modes."""
    f, x = OF_ROWS[name][0], _rows(np.float32)[0]
    for slope in (grad(lambda x: dnp.sum(f(x / 0.3))), jacfwd(lambda x: f(x / 0.3))):
        assert np.isfinite(np.asarray(jit(slope)(x))).all()


def test_slope_of_logsumexp_far_from_zero() -> None:
    """The slope is softmax to rounding, however large the result is."""
    x = np.array([1e4, 1e4 - 1, 1e4 - 3], np.float32)
    wanted = special.softmax(x.astype(np.float64))
    for run in (grad(nn.logsumexp), jit(grad(nn.logsumexp)), jacfwd(nn.logsumexp)):
        np.testing.assert_allclose(run(x), wanted, rtol=5e-7)


def test_infinite_exponents() -> None:
    """Infinities and NaN are those of SciPy."""
    for row in ([np.inf, 1], [-np.inf, 1], [-np.inf] * 2, [np.inf] * 2, [np.nan, 1]):
        x = np.array(row, np.float32)
        with np.errstate(invalid="ignore"):
            e = np.exp(x - x.max())
            wanted = np.float32(special.logsumexp(x)), e / e.sum()
        for f in (nn.logsumexp, jit(nn.logsumexp)):
            np.testing.assert_array_equal(f(x), wanted[0])
        np.testing.assert_array_equal(jit(nn.softmax)(x), wanted[1])


def test_draws_of_tiny_parameters() -> None:
    """Variates whose logarithms are huge are normalised without NaN."""
    tiny = np.full((200, 2), 1e-9, np.float32)
    for draws in (
        jit(lambda a: random.beta(random.key(0), a[:, 0], a[:, 1]))(tiny),
        jit(lambda a: random.dirichlet(random.key(0), a / 0.3))(tiny),
    ):
        assert np.isin(np.asarray(draws), [0, 1]).all()
