"""Draws have the moments, ranges and shapes of their distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_ad import grad, jvp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

N = 20_000
KEY = random.key(2024)
Draw = Callable[[Any, tuple[int, ...]], Any]

CONTINUOUS: dict[str, tuple[Draw, Any]] = {
    "uniform": (lambda k, s: random.uniform(k, s, minval=-1, maxval=3), stats.uniform(-1, 4)),
    "normal": (random.normal, stats.norm()),
    "exponential": (random.exponential, stats.expon()),
    "gumbel": (random.gumbel, stats.gumbel_r()),
    "gumbel highest": (lambda k, s: random.gumbel(k, s, mode="highest"), stats.gumbel_r()),
    "gumbel high": (lambda k, s: random.gumbel(k, s, mode="high"), stats.gumbel_r()),
    "laplace": (random.laplace, stats.laplace()),
    "logistic": (random.logistic, stats.logistic()),
    "cauchy": (random.cauchy, stats.cauchy()),
    "maxwell": (random.maxwell, stats.maxwell()),
    "truncated_normal": (lambda k, s: random.truncated_normal(k, -1, 2, s), stats.truncnorm(-1, 2)),
    "lognormal": (lambda k, s: random.lognormal(k, 0.5, s), stats.lognorm(0.5)),
    "rayleigh": (lambda k, s: random.rayleigh(k, 2.0, s), stats.rayleigh(scale=2)),
    "pareto": (lambda k, s: random.pareto(k, 3.0, s), stats.pareto(3)),
    "weibull_min": (
        lambda k, s: random.weibull_min(k, 2.0, 1.5, s), stats.weibull_min(1.5, scale=2)
    ),
    "triangular": (lambda k, s: random.triangular(k, 0.0, 0.3, 1.0, s), stats.triang(0.3)),
    "wald": (lambda k, s: random.wald(k, 1.5, s), stats.invgauss(1.5)),
    "gamma": (lambda k, s: random.gamma(k, 2.5, s), stats.gamma(2.5)),
    "gamma below 1": (lambda k, s: random.gamma(k, 0.4, s), stats.gamma(0.4)),
    "loggamma": (lambda k, s: random.loggamma(k, 0.4, s), stats.loggamma(0.4)),
    "beta": (lambda k, s: random.beta(k, 0.5, 2.0, s), stats.beta(0.5, 2)),
    "chisquare": (lambda k, s: random.chisquare(k, 3.0, s), stats.chi2(3)),
    "generalized_normal": (lambda k, s: random.generalized_normal(k, 1.5, s), stats.gennorm(1.5)),
    "double_sided_maxwell": (
        lambda k, s: dnp.abs(random.double_sided_maxwell(k, 0.0, 1.0, s)), stats.maxwell()
    ),
}  # fmt: skip

DISCRETE: dict[str, tuple[Draw, Any]] = {
    "randint": (lambda k, s: random.randint(k, s, -3, 4), stats.randint(-3, 4)),
    "bernoulli": (lambda k, s: random.bernoulli(k, 0.3, s), stats.bernoulli(0.3)),
    "bernoulli high": (lambda k, s: random.bernoulli(k, 0.3, s, mode="high"), stats.bernoulli(0.3)),
    "geometric": (lambda k, s: random.geometric(k, 0.4, s), stats.geom(0.4)),
    "poisson": (lambda k, s: random.poisson(k, 4.0, s), stats.poisson(4)),
    "poisson large": (lambda k, s: random.poisson(k, 30.0, s), stats.poisson(30)),
    "binomial": (lambda k, s: random.binomial(k, 9, 0.3, s), stats.binom(9, 0.3)),
    "binomial mirrored": (lambda k, s: random.binomial(k, 9, 0.7, s), stats.binom(9, 0.7)),
    "binomial large": (lambda k, s: random.binomial(k, 100, 0.4, s), stats.binom(100, 0.4)),
    "choice": (lambda k, s: random.choice(k, 5, s), stats.randint(0, 5)),
    "choice p": (
        lambda k, s: random.choice(k, 3, s, p=dnp.asarray([0.2, 0.0, 0.8])),
        stats.rv_discrete(values=([0, 2], [0.2, 0.8])),
    ),
    "categorical": (
        lambda k, s: random.categorical(k, dnp.log(dnp.asarray([0.2, 0.3, 0.5])), shape=s),
        stats.rv_discrete(values=([0, 1, 2], [0.2, 0.3, 0.5])),
    ),
    "rademacher": (
        lambda k, s: random.rademacher(k, s), stats.rv_discrete(values=([-1, 1], [0.5, 0.5]))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str) -> None:
    """The empirical distribution function is near the true one (Kolmogorov and Smirnov)."""
    draw, law = CONTINUOUS[name]
    result = np.asarray(draw(KEY, (N,)), np.float64)
    assert result.shape == (N,) and np.isfinite(result).all()
    assert stats.kstest(result, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str) -> None:
    """Frequencies are near probabilities (Pearson)."""
    draw, law = DISCRETE[name]
    result = np.asarray(draw(KEY, (N,))).astype(np.int64)
    values = np.arange(result.min(), result.max() + 1)
    expected = law.pmf(values) * N
    often = expected >= 5
    counts = np.array([(result == v).sum() for v in values])
    assert counts[expected == 0].sum() == 0
    rest = [counts[~often].sum()], [N - expected[often].sum()]
    observed, wanted = np.append(counts[often], rest[0]), np.append(expected[often], rest[1])
    keep = wanted > 1e-6
    assert (
        stats.chisquare(
            observed[keep], wanted[keep] * observed[keep].sum() / wanted[keep].sum()
        ).pvalue
        > 1e-3
    )


def test_permutations_are_equally_likely() -> None:
    """All six orders of three things occur equally often."""
    keys = random.split(KEY, 6000)
    orders = np.asarray(vmap(lambda k: random.permutation(k, 3))(keys))
    _, counts = np.unique(orders @ [1, 3, 9], return_counts=True)
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > 1e-3


def test_choice_without_replacement() -> None:
    """No element is drawn twice, weighted or not."""
    for p in (None, dnp.arange(1.0, 9.0) / 36):
        drawn = np.asarray(random.choice(KEY, 8, (8,), replace=False, p=p))
        assert sorted(drawn.tolist()) == list(range(8))
    rows = random.choice(KEY, dnp.arange(12).reshape(4, 3), (2,), replace=False)
    assert rows.shape == (2, 3) and (np.asarray(rows)[:, 0] % 3 == 0).all()


def test_multinomial() -> None:
    """Counts add up, and their means are n p."""
    result = np.asarray(vmap(lambda k: random.multinomial(k, 20, dnp.asarray([0.2, 0.3, 0.5])))(
        random.split(KEY, 2000)))  # fmt: skip
    assert (result.sum(-1) == 20).all()
    np.testing.assert_allclose(result.mean(0), [4, 6, 10], atol=0.3)
    many = random.multinomial(KEY, dnp.asarray([3.0, 50.0]), dnp.asarray([0.5, 0.5]))
    assert np.asarray(many).sum(-1).tolist() == [3, 50]


def test_multivariate_normal() -> None:
    """Means and covariances are those asked for, whichever root is taken."""
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.7], [0.7, 1.0]])
    for method in ("cholesky", "eigh", "svd"):
        result = np.asarray(random.multivariate_normal(KEY, mean, cov, (N,), method=method))
        np.testing.assert_allclose(result.mean(0), mean, atol=0.05)
        np.testing.assert_allclose(np.cov(result.T), cov, atol=0.08)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 2), (2, 4)])
def test_orthogonal(n: int, m: int) -> None:
    """Columns, or rows, are orthonormal."""
    for dtype in ("float32", "complex64"):
        q = np.asarray(random.orthogonal(KEY, n, (2,), dtype, m))
        assert q.shape == (2, n, m)
        product = q.conj().swapaxes(1, 2) @ q if n >= m else q @ q.conj().swapaxes(1, 2)
        np.testing.assert_allclose(
            product, np.broadcast_to(np.eye(min(n, m)), product.shape), atol=1e-5
        )


def test_ranges() -> None:
    """Half-open ranges hold their lower ends and not their upper ones."""
    u = np.asarray(random.uniform(KEY, (N,), "bfloat16")).astype(np.float32)
    assert u.min() == 0 and u.max() < 1
    assert (np.asarray(random.uniform(KEY, (9,), minval=2.0, maxval=1.0)) >= 1).all()
    t = np.asarray(random.truncated_normal(KEY, -0.1, 0.1, (N,)))
    assert t.min() > -0.1 and t.max() < 0.1
    assert np.asarray(random.randint(KEY, (4,), 5, 2)).tolist() == [5] * 4
    small = np.asarray(random.randint(KEY, (N,), 0, 256, "uint8"))
    assert (small.min(), small.max()) == (0, 255)


def test_complex_normal() -> None:
    """Real and imaginary parts have variance 1/2 each and are independent."""
    z: Any = np.asarray(random.normal(KEY, (N,), "complex64"))
    np.testing.assert_allclose(
        [z.real.var(), z.imag.var(), (z.real * z.imag).mean()], [0.5, 0.5, 0], atol=0.02
    )


@pytest.mark.parametrize("name", ["normal", "randint", "permutation", "categorical", "gamma"])
def test_jit_and_vmap(name: str) -> None:
    """Compiled and mapped draws are those of a loop."""
    f: Any = {
        "normal": lambda k: random.normal(k, (3,)),
        "randint": lambda k: random.randint(k, (3,), 0, 1000),
        "permutation": lambda k: random.permutation(k, 6),
        "categorical": lambda k: random.categorical(k, dnp.arange(5.0), shape=(4,)),
        "gamma": lambda k: random.gamma(k, dnp.asarray([0.3, 3.0])),
    }[name]
    keys = random.split(KEY, 4)
    loop = np.stack([np.asarray(f(k)) for k in keys])
    np.testing.assert_allclose(vmap(f)(keys), loop, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(jit(vmap(f))(keys), loop, rtol=2e-6, atol=2e-6)


def test_exponents_of_norms_may_be_traced() -> None:
    """The exponent of ``ball`` and ``generalized_normal`` is an operand like any parameter."""
    powers = np.array([1.0, 2.0, 3.5], np.float32)
    for draw in (
        lambda p: random.ball(KEY, 3, p, (5,)),
        lambda p: random.generalized_normal(KEY, p, (5,)),
    ):
        loop = np.stack([np.asarray(draw(float(p))) for p in powers])
        np.testing.assert_allclose(vmap(draw)(powers), loop, rtol=2e-5)
        np.testing.assert_allclose(jit(draw)(2), draw(2.0), rtol=1e-6)
        assert np.isfinite(grad(lambda p: dnp.sum(draw(p)))(2.0))  # noqa: B023
    loop = [np.asarray(random.ball(KEY, 3, int(p))) for p in (1, 2)]
    assert all((np.abs(x) ** p).sum() <= 1 for x, p in zip(loop, (1, 2)))
    assert random.generalized_normal(KEY, powers, (4, 3)).shape == (4, 3)


def test_the_first_key_draws_for_all_of_rbg() -> None:
    """Mapped over, keys of the platform's generator draw once, from the first of them."""
    keys = random.split(random.key(3, impl="rbg"), 4)
    drawn = vmap(lambda k: random.bits(k, (5,)))(keys)
    assert np.array_equal(drawn, random.bits(keys[0], (4, 5)))
    alone = [np.asarray(random.gamma(k, 2.0, (3,))) for k in keys]
    np.testing.assert_allclose(vmap(lambda k: random.gamma(k, 2.0, (3,)))(keys), alone, rtol=2e-6)


def test_draws_depend_on_the_key() -> None:
    """Different keys give different draws, the same key the same."""
    a, b = random.split(KEY)
    assert np.array_equal(random.normal(a, (5,)), random.normal(a, (5,)))
    assert not np.array_equal(random.normal(a, (5,)), random.normal(b, (5,)))


def test_gradient_in_location_and_scale() -> None:
    """Draws are differentiable in parameters that shift and stretch them."""
    f = lambda a, b: dnp.sum(random.uniform(KEY, (50,), minval=a, maxval=b))  # noqa: E731
    u = np.asarray(random.uniform(KEY, (50,)))
    np.testing.assert_allclose(grad(f, (0, 1))(0.5, 2.0), [(1 - u).sum(), u.sum()], rtol=1e-5)
    g = grad(lambda s: random.lognormal(KEY, s))(0.5)
    n, x = (np.asarray(v) for v in (random.normal(KEY), random.lognormal(KEY, 0.5)))
    np.testing.assert_allclose(g, n * x, rtol=1e-5)


@pytest.mark.parametrize("a", [0.3, 1.0, 4.0])
def test_gradient_of_gamma(a: float) -> None:
    """A variate's derivative keeps its quantile: -(dF/da) / (dF/dx)."""
    x, dx = jvp(lambda a: random.gamma(KEY, a, (6,)), (a,), (1.0,))
    _, dlog = jvp(lambda a: random.loggamma(KEY, a, (6,)), (a,), (1.0,))
    x, h = np.asarray(x, np.float64), 1e-5
    slope = (stats.gamma.cdf(x, a + h) - stats.gamma.cdf(x, a - h)) / (2 * h)
    wanted = -slope / stats.gamma.pdf(x, a)
    np.testing.assert_allclose(dx, wanted, rtol=2e-3)
    np.testing.assert_allclose(dlog, wanted / x, rtol=2e-3)


def test_empty_and_scalar_shapes() -> None:
    """Every function of a key, a shape and nothing else takes empty and scalar shapes."""
    for name in ("normal", "uniform", "exponential", "gumbel", "laplace", "logistic", "cauchy",
                 "maxwell", "rademacher", "bits"):  # fmt: skip
        draw = getattr(random, name)
        assert draw(KEY).shape == () and draw(KEY, (0, 3)).shape == (0, 3)
        assert draw(KEY, 4).shape == draw(KEY, [4]).shape == (4,)
    assert random.gamma(KEY, dnp.ones((0,))).shape == (0,)
    assert random.poisson(KEY, 2.0).shape == ()
    assert random.permutation(KEY, 0).shape == (0,)


def test_parameters_out_of_range() -> None:
    """Distributions that do not exist give NaN, and loops end."""
    n = dnp.asarray([10.0, 10.0, -1.0, np.inf, np.nan, 10.0])
    p = dnp.asarray([-0.1, 1.5, 0.5, 0.5, 0.5, np.nan])
    assert np.isnan(np.asarray(random.binomial(KEY, n, p))).all()
    assert np.asarray(
        random.binomial(KEY, dnp.asarray([5.0, 5.0]), dnp.asarray([0.0, 1.0]))
    ).tolist() == [0, 5]
    assert np.isnan(np.asarray(random.gamma(KEY, dnp.asarray([np.nan, -2.0])))).all()
    assert np.asarray(random.gamma(KEY, 0.0)) == 0
    assert np.asarray(random.poisson(KEY, 0.0)) == 0


def test_student_numbers_have_the_shape_of_their_degrees_of_freedom():
    df = np.array([1.0, 5.0], np.float32)
    assert random.t(KEY, df).shape == (2,)
    assert random.t(KEY, 3.0).shape == ()
    assert random.t(KEY, df, (3, 2)).shape == (3, 2)


def test_draws_of_several_types_are_joined_as_in_jax():
    key, zeros, eye = random.key(0), np.zeros(2, np.float32), np.eye(2, dtype=np.float32)
    assert random.multinomial(key, 3, np.ones(3, np.float32) / 3, dtype=int).dtype == "int32"
    for dtype in ("float16", "bfloat16"):
        for method in ("cholesky", "svd"):
            result = random.multivariate_normal(key, zeros, eye, dtype=dtype, method=method)
            assert result.dtype == "float32"


def test_indices_without_replacement_have_32_bits_in_any_mode() -> None:
    with enable_x64(True):
        result = [
            random.categorical(KEY, dnp.zeros(5), shape=(3,), replace=r) for r in (False, True)
        ]
    assert [x.dtype for x in result] == [np.int32, np.int64]
    assert len(set(result[0].tolist())) == 3
