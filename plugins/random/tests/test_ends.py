"""Draws where the uniform numbers are at their ends: finite, and within the support.

The generator here replaces half of its random words by zeros and by ones, so that each uniform
number is the least or the greatest one a quarter of the time, in loops, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_random.draws.counts import _by_products, _by_rejection, full_parameter
from dovetail_random.implementations import Implementation
from dovetail_random.threefry import THREEFRY

N = 512

F4 = np.dtype("f4")


def _bits(lanes: Any, width: int, shape: tuple[int, ...]) -> Any:
    words = THREEFRY.random_bits(lanes, width, shape)
    last = lax.rem(words, lax.full_like(words, 4))
    zeros, ones = lax.full_like(words, 0), lax.bitwise_not(lax.full_like(words, 0))
    words = lax.select(lax.eq(last, zeros), zeros, words)
    return lax.select(lax.eq(last, lax.full_like(last, 1)), ones, words)


ENDS = Implementation(
    "tests.ends", "ends", THREEFRY.words, seed=THREEFRY.seed, split=THREEFRY.split,
    fold_in=THREEFRY.fold_in, random_bits=_bits, elementwise=True,
)  # fmt: skip

KEY = random.key(1, impl=ENDS)
Draw = Callable[[Any, tuple[int, ...], Any], Any]
BIG = np.inf
REAL: dict[str, tuple[Draw, float, float]] = {
    "uniform": (random.uniform, 0, 1),
    "uniform in a range": (lambda k, s, d: random.uniform(k, s, d, 2.5, 3.0), 2.5, 3),
    "uniform in traced ranges": (
        lambda k, s, d: random.uniform(k, s, d, dnp.full(s, 2.5), dnp.asarray(3.0)), 2.5, 3),
    "normal": (random.normal, -9, 9),
    "truncated_normal": (lambda k, s, d: random.truncated_normal(k, -1, 2, s, d), -1, 2),
    "truncated_normal below": (
        lambda k, s, d: random.truncated_normal(k, -np.inf, -1, s, d), -9, -1),
    "truncated_normal above": (
        lambda k, s, d: random.truncated_normal(k, dnp.ones(s), np.inf, s, d), 1, 9),
    "truncated_normal far": (lambda k, s, d: random.truncated_normal(k, -10, 10, s, d), -9, 9),
    "lognormal": (lambda k, s, d: random.lognormal(k, 0.5, s, d), 0, BIG),
    "exponential": (random.exponential, 0, BIG),
    "gumbel": (random.gumbel, -BIG, BIG),
    "gumbel high": (lambda k, s, d: random.gumbel(k, s, d, mode="high"), -BIG, BIG),
    "gumbel highest": (lambda k, s, d: random.gumbel(k, s, d, mode="highest"), -BIG, BIG),
    "laplace": (random.laplace, -BIG, BIG),
    "logistic": (random.logistic, -BIG, BIG),
    "cauchy": (random.cauchy, -BIG, BIG),
    "maxwell": (random.maxwell, 0, BIG),
    "double_sided_maxwell": (
        lambda k, s, d: random.double_sided_maxwell(k, 0.0, 1.0, s, d), -BIG, BIG),
    "rayleigh": (lambda k, s, d: random.rayleigh(k, 2.0, s, d), 0, BIG),
    "pareto": (lambda k, s, d: random.pareto(k, 3.0, s, d), 1, BIG),
    "weibull_min": (lambda k, s, d: random.weibull_min(k, 2.0, 1.5, s, d), 0, BIG),
    "weibull_min flat": (lambda k, s, d: random.weibull_min(k, 2.0, 1.0, s, d), 0, BIG),
    "triangular": (lambda k, s, d: random.triangular(k, 0.1, 0.3, 0.7, s, d), 0.1, 0.7),
    "triangular falling": (lambda k, s, d: random.triangular(k, 0.1, 0.1, 0.7, s, d), 0.1, 0.7),
    "triangular rising": (lambda k, s, d: random.triangular(k, 0.1, 0.7, 0.7, s, d), 0.1, 0.7),
    "wald": (lambda k, s, d: random.wald(k, 1.5, s, d), 0, BIG),
    "wald far": (lambda k, s, d: random.wald(k, 200.0, s, d), 0, BIG),
    "gamma": (lambda k, s, d: random.gamma(k, 2.5, s, d), 0, BIG),
    "gamma below 1": (lambda k, s, d: random.gamma(k, 0.4, s, d), 0, BIG),
    "loggamma": (lambda k, s, d: random.loggamma(k, 0.4, s, d), -BIG, BIG),
    "beta": (lambda k, s, d: random.beta(k, 0.5, 0.25, s, d), 0, 1),
    "dirichlet": (lambda k, s, d: random.dirichlet(k, dnp.asarray([0.5, 0.3, 2]), s, d), 0, 1),
    "chisquare": (lambda k, s, d: random.chisquare(k, 0.5, s, d), 0, BIG),
    "t": (lambda k, s, d: random.t(k, 2.5, s, d), -BIG, BIG),
    "f": (lambda k, s, d: random.f(k, 1.5, 2.5, s, d), 0, BIG),
    "generalized_normal": (
        lambda k, s, d: random.generalized_normal(k, 1.5, s, d), -BIG, BIG),
    "ball": (lambda k, s, d: random.ball(k, 2, 1.5, s, d), -1, 1),
    "ball of one dimension": (lambda k, s, d: random.ball(k, 1, 40.0, s, d), -1, 1),
}  # fmt: skip

COUNTS: dict[str, tuple[Draw, int, int]] = {
    "geometric": (lambda k, s, d: random.geometric(k, 0.5, s, d), 1, 25),
    "geometric certain": (lambda k, s, d: random.geometric(k, 1.0, s, d), 1, 1),
    "randint": (lambda k, s, d: random.randint(k, s, -3, 4, d), -3, 3),
    "bernoulli": (lambda k, s, d: random.bernoulli(k, 0.3, s), 0, 1),
    "bernoulli never": (lambda k, s, d: random.bernoulli(k, 0.0, s), 0, 0),
    "bernoulli always": (lambda k, s, d: random.bernoulli(k, 1.0, s), 1, 1),
    "bernoulli high, never": (lambda k, s, d: random.bernoulli(k, 0.0, s, mode="high"), 0, 0),
    "bernoulli high, always": (lambda k, s, d: random.bernoulli(k, 1.0, s, mode="high"), 1, 1),
    "binomial": (lambda k, s, d: random.binomial(k, 9, 0.3, s), 0, 9),
    "binomial never": (lambda k, s, d: random.binomial(k, 9, 0.0, s), 0, 0),
    "binomial always": (lambda k, s, d: random.binomial(k, 9, 1.0, s), 9, 9),
    "binomial large": (lambda k, s, d: random.binomial(k, 100, 0.4, s), 0, 100),
    "multinomial": (
        lambda k, s, d: random.multinomial(k, 20, dnp.asarray([0.2, 0.0, 0.8]))[1], 0, 0),
    "poisson": (
        lambda k, s, d: _by_products(k, full_parameter(4.0, s, F4), s, np.dtype("i4"), 999),
        0, 99),
    "poisson large": (
        lambda k, s, d: _by_rejection(k, full_parameter(30.0, s, F4), s, np.dtype("i4"), 999),
        0, 99),
    "choice": (lambda k, s, d: random.choice(k, 5, s), 0, 4),
    "choice of the middle": (
        lambda k, s, d: random.choice(k, 3, s, p=dnp.asarray([0.0, 1.0, 0.0])), 1, 1),
    "categorical": (
        lambda k, s, d: random.categorical(k, dnp.log(dnp.asarray([0.0, 1.0, 0.0])), shape=s),
        1, 1),
    "rademacher": (random.rademacher, -1, 1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", REAL)
def test_real_draws(name: str, dtype: str) -> None:
    """Numbers are finite and within the support, none of them a negative zero below it."""
    draw, low, high = REAL[name]
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    with enable_x64(dtype == "float64"):
        result = np.asarray(jit(draw, static_argnums=(1, 2))(KEY, (N,), kind), np.float64)
        assert np.isfinite(result).all()
        least, greatest = (float(kind.type(x)) for x in (low, high))
        if name.startswith("ball"):  # its points are quotients
            least, greatest = (x * (1 + 2 * float(ml_dtypes.finfo(kind).eps)) for x in (low, high))
        assert result.min() >= least and result.max() <= greatest
        assert low != 0 or not np.signbit(result).any()
    if name.startswith("uniform"):
        assert (result < high).all()


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    """Counts are among those that can occur."""
    draw, low, high = COUNTS[name]
    result = np.asarray(jit(draw, static_argnums=(1, 2))(KEY, (N,), np.dtype(np.int32))).astype(int)
    assert result.min() >= low and result.max() <= high


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranges_longer_than_all_numbers(dtype: Any) -> None:
    """The length of a range need not be a finite number, of known and of traced ends."""
    with enable_x64(dtype == np.float64):
        end = dtype(np.finfo(dtype).max)
        for impl in ("threefry2x32", ENDS):
            key = random.key(0, impl=impl)
            known = np.asarray(random.uniform(key, (N,), dtype, -end, end))
            traced = np.asarray(
                random.uniform(key, (N,), dtype, dnp.asarray(-end), dnp.asarray(end))
            )
            staged = jit(lambda k, e: random.uniform(k, (N,), dtype, -e, e))(key, end)
            np.testing.assert_array_equal(known, traced)
            np.testing.assert_array_equal(known, staged)
            assert np.isfinite(known).all() and (known < end).all() and (known >= -end).all()
        generic = np.asarray(random.uniform(random.key(0), (4096,), dtype, -end, end))
        unit = np.asarray(random.uniform(random.key(0), (4096,), dtype))
        np.testing.assert_allclose(generic / end, 2 * unit - 1, atol=4 * np.finfo(dtype).eps)


def test_the_end_is_left_out() -> None:
    """Rounding does not lead to the end of a range, nor to numbers before its beginning."""
    for impl in ("threefry2x32", ENDS):
        key = random.key(0, impl=impl)
        for low, high in ((1000.0, 1000.125), (-1.0, -0.99999994), (-3.0, 1e-30)):
            draws = np.asarray(random.uniform(key, (N,), minval=low, maxval=high))
            assert (draws >= np.float32(low)).all() and (draws < np.float32(high)).all()
        assert (np.asarray(random.uniform(key, (N,), minval=2.0, maxval=1.0)) == 2).all()
