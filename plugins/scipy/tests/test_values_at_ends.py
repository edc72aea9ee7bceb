"""Special functions, densities and minimizers where terms vanish, cancel or overflow."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail import grad, hessian, jacfwd, jit, vmap
from dovetail_core import enable_x64
from dovetail_scipy import linalg as dlinalg, special as dspecial, stats as dstats
from dovetail_scipy.optimize import minimize

INF, NAN = np.inf, np.nan
RUNS = [lambda f: f, jit]


@pytest.mark.parametrize("run", RUNS)
def test_slopes_of_vanishing_terms(run: Any) -> None:
    """The slope of ``0 log(y)`` in ``y`` is 0, at 0 as well; those beside it stay."""
    for f, end in ((dspecial.xlogy, 0.0), (dspecial.xlog1py, -1.0)):
        for slope in (grad(f, 1), jacfwd(f, 1)):
            assert float(run(slope)(0.0, end)) == 0
            assert float(run(slope)(2.0, end)) == INF
            assert float(run(slope)(0.0, end + 2)) == 0
            assert float(run(slope)(3.0, end + 2)) == 1.5
        assert float(run(grad(f))(0.0, end)) == -INF
        mixed = run(grad(grad(f, 1), 0))
        assert float(mixed(0.0, end + 2)) == float(mixed(1.0, end + 2)) == 0.5
        assert float(run(grad(grad(f, 1), 1))(0.0, end)) == 0
        assert np.isnan(float(run(grad(f, 1))(0.0, NAN)))


def _poisson(k: int, mu: float) -> float:
    return float(stats.poisson.pmf(k, mu)) if k >= 0 else 0.0


def _binom(k: int, n: int, p: float) -> float:
    return float(stats.binom.pmf(k, n, p)) if 0 <= k <= n else 0.0


@pytest.mark.parametrize("run", RUNS)
def test_slopes_of_probabilities_where_they_vanish(run: Any) -> None:
    """They are differences of neighbouring probabilities, at the ends of parameters as within."""
    for k in range(4):
        for mu in (0.0, 0.7):
            result = run(grad(lambda m, k=k: dstats.poisson.pmf(k, m)))(mu)
            np.testing.assert_allclose(result, _poisson(k - 1, mu) - _poisson(k, mu), rtol=1e-5)
        second = run(grad(grad(lambda m, k=k: dstats.poisson.pmf(k, m))))(0.0)
        assert float(second) == _poisson(k - 2, 0) - 2 * _poisson(k - 1, 0) + _poisson(k, 0)
        for p in (0.0, 0.3, 1.0):
            result = run(grad(lambda p, k=k: dstats.binom.pmf(k, 3, p)))(p)
            np.testing.assert_allclose(
                result, 3 * (_binom(k - 1, 2, p) - _binom(k, 2, p)), rtol=1e-5
            )
        for p in (0.3, 1.0):
            power = (1 - p) ** k, k * (1 - p) ** max(k - 1, 0)
            result = run(grad(lambda p, k=k: dstats.nbinom.pmf(k, 2, p)))(p)
            wanted = comb(k + 1, 1) * (2 * p * power[0] - p**2 * power[1])
            np.testing.assert_allclose(result, wanted, rtol=1e-5)
            result = run(grad(lambda p, k=k: dstats.geom.pmf(k + 1, p)))(p)
            np.testing.assert_allclose(result, power[0] - p * power[1], rtol=1e-5)
    for p in (0.0, 0.3, 1.0):
        for k in (0, 1):
            result = run(grad(lambda p, k=k: dstats.bernoulli.pmf(k, p)))(p)
            np.testing.assert_allclose(result, 2 * k - 1, rtol=1e-6)


LOGS = [
    (lambda m: dstats.poisson.logpmf(0, m), 0.0, -1),
    (lambda p: dstats.bernoulli.logpmf(0, p), 0.0, -1),
    (lambda p: dstats.bernoulli.logpmf(1, p), 1.0, 1),
    (lambda p: dstats.binom.logpmf(0, 3, p), 0.0, -3),
    (lambda p: dstats.binom.logpmf(3, 3, p), 1.0, 3),
    (lambda p: dstats.geom.logpmf(1, p), 1.0, 1),
    (lambda p: dstats.nbinom.logpmf(0, 2, p), 1.0, 2),
    (lambda x: dstats.gamma.logpdf(x, 1.0), 0.0, -1),
    (lambda x: dstats.gamma.pdf(x, 1.0), 0.0, -1),
    (lambda x: dstats.beta.logpdf(x, 1.0, 2.0), 0.0, -1),
    (lambda x: dstats.beta.logpdf(x, 2.0, 1.0), 1.0, 1),
    (lambda x: dstats.chi2.logpdf(x, 2.0), 0.0, -0.5),
    (lambda p: dstats.multinomial.logpmf(np.array([0, 3]), 3, p[None] * np.array([1, 0]) +
                                         np.array([0, 1.0])), 0.0, 0),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(LOGS)))
@pytest.mark.parametrize("run", RUNS)
def test_slopes_of_log_densities_at_ends(case: int, run: Any) -> None:
    """Densities that are finite at an end of their support have a slope there."""
    f, at, wanted = LOGS[case]
    for slope in (grad(f), jacfwd(f), lambda x: vmap(grad(f))(dnp.asarray([x]))[0]):
        assert float(run(slope)(np.float32(at))) == wanted


BETAS = [
    (-3.0, 1.5), (-2.0, 1.0), (INF, 1.0), (-2.0, 2.0), (-2.0, 3.0), (-3.0, 2.0), (1.5, -3.0),
    (0.0, 1.0), (0.0, 0.0), (INF, 0.0), (INF, -1.5), (-0.5, -0.5), (-1.5, 2.5), (NAN, 1.0),
    (-2.0, 0.5), (2.0, -3.0), (1.0, -2.0), (0.0, -2.0), (-3.0, 3.0), (INF, 0.5), (-5.0, 2.0),
    (-200.0, 3.0), (-3.0, 1e30), (2.0, 3.0), (-1.25, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_beta_at_poles(dtype: Any) -> None:
    """Values are SciPy's, where the poles of gamma functions cancel, too."""
    with enable_x64(dtype == np.float64):
        a, b = (np.array(v, dtype) for v in zip(*BETAS))
        for name in ("beta", "betaln"):
            wanted = getattr(special, name)(a.astype(np.float64), b.astype(np.float64))
            for f in (getattr(dspecial, name), jit(getattr(dspecial, name))):
                np.testing.assert_allclose(f(a, b), wanted, rtol=32 * np.finfo(dtype).eps, atol=0)
        assert float(dspecial.beta(dtype(INF), dtype(INF))) == 0


def test_exponential_integral_of_huge_numbers() -> None:
    """It overflows to infinity, not to NaN."""
    x = np.array([80, 93, 150, 1e4, 1e38, INF, -1e38], np.float32)
    with np.errstate(over="ignore"):
        wanted = special.expi(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(jit(dspecial.expi)(x), wanted, rtol=1e-5)
    with enable_x64(True):
        wide = np.array([700.0, 720.0, 800.0, 1e300, INF])
        np.testing.assert_allclose(dspecial.expi(wide), special.expi(wide), rtol=1e-12)


@pytest.mark.parametrize("run", RUNS)
def test_slope_of_digamma_at_negative_numbers(run: Any) -> None:
    """The slope is Hurwitz' zeta function on both sides of 0, far out, too."""
    # [mpmath.psi(1, v) for v in x]
    x = [-16.5, -100.5, -0.5, -1.5, -2.25, -9.75, 0.5, 3.0]
    wanted = [9.8107978, 9.8597035, 8.9348022, 9.3792466, 19.3794105, 19.6417250, 4.9348022,
              0.39493407]  # fmt: skip
    for f in (lax.digamma, dspecial.digamma):
        result = run(vmap(grad(f)))(np.array(x, np.float32))
        np.testing.assert_allclose(result, wanted, rtol=2e-6)
    with enable_x64(True):
        h = 1e-5
        second = run(grad(grad(lax.digamma)))(-16.3)
        slope = grad(lax.digamma)
        np.testing.assert_allclose(
            second, (slope(-16.3 + h) - slope(-16.3 - h)) / (2 * h), rtol=1e-6
        )


def test_minimizing_over_complex_vectors() -> None:
    """L-BFGS takes complex vectors, and returns such; BFGS refuses them."""
    z0 = np.array([1.0, 2 - 3j], np.complex64)
    method = "l-bfgs-experimental-do-not-rely-on-this"

    def f(z: Any, scale: Any) -> Any:
        return scale * dnp.sum(dnp.abs(z - z0) ** 2)

    result = jit(lambda z: minimize(f, z, (2.0,), method=method))(np.zeros(2, np.complex64))
    assert bool(result.success) and result.x.dtype == np.complex64
    np.testing.assert_allclose(result.x, z0, atol=1e-4)
    slope = grad(lambda z: f(z, 2.0))(result.x)
    np.testing.assert_allclose(result.jac, slope, atol=1e-6)
    start = minimize(f, np.zeros(2, np.complex64), (2.0,), method=method, options={"maxiter": 0})
    np.testing.assert_allclose(start.jac, grad(lambda z: f(z, 2.0))(np.zeros(2, np.complex64)))
    with pytest.raises(TypeError, match="x0 must be a vector of floating-point numbers, got c64"):
        minimize(f, z0, (2.0,), method="BFGS")


def test_right_sides_of_fewer_dimensions() -> None:
    """Right sides broadcast with a batch of matrices; vectors are those whose last axis fits."""
    r = np.random.default_rng(0)
    a = np.linalg.cholesky(5 * np.eye(4) + np.ones((3, 4, 4))).astype(np.float32)
    for shape in ((4, 2), (4,), (3, 4), (1, 4, 2), (2, 3, 4, 1)):
        b = r.normal(size=shape).astype(np.float32)
        columns = b[..., None] if shape in ((4,), (3, 4)) else b
        whole = a @ a.swapaxes(-1, -2)
        wanted = {
            "cho_solve": (dlinalg.cho_solve((a, True), b), np.linalg.solve(whole, columns)),
            "triangular": (dlinalg.solve_triangular(a, b, lower=True), np.linalg.solve(a, columns)),
            "lu_solve": (dlinalg.lu_solve(dlinalg.lu_factor(a), b), np.linalg.solve(a, columns)),
        }
        for result, value in wanted.values():
            value = value[..., 0] if columns is not b else value
            assert result.shape == value.shape
            np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5)


def test_pseudo_inverses_have_slopes_at_equal_singular_values() -> None:
    """The derivative is that of Golub and Pereyra, whatever the singular values and their size."""
    r = np.random.default_rng(1)
    result = jacfwd(dnp.linalg.pinv)(np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(result, -np.einsum("ik,jl->ijkl", np.eye(2), np.eye(2)), atol=1e-6)
    with enable_x64(True):
        for shape in ((2, 2), (3, 2), (2, 4)):
            for a in (np.eye(*shape), 3 * np.eye(*shape) + r.normal(size=shape)):
                w, d = r.normal(size=shape[::-1]), r.normal(size=shape)
                f = lambda a, w=w: dnp.sum(dnp.linalg.pinv(a) * w)  # noqa: E731
                h = 1e-6
                wanted = np.sum(w * (np.linalg.pinv(a + h * d) - np.linalg.pinv(a - h * d))) / (
                    2 * h
                )
                for slope in (grad(f), jit(grad(f)), jacfwd(f)):
                    np.testing.assert_allclose(np.sum(np.asarray(slope(a)) * d), wanted, rtol=1e-6)
                assert np.isfinite(np.asarray(hessian(f)(a))).all()
        a = np.array([[1, 2], [3, 5], [1, 0.0]])
        wanted = np.asarray(grad(lambda a: dnp.sum(dnp.linalg.pinv(a)))(a))
    for scale in (1e-12, 1.0, 1e12, 1e15):
        huge = (a * scale).astype(np.float32)
        slope = np.asarray(grad(lambda a: dnp.sum(dnp.linalg.pinv(a)))(huge), np.float64)
        np.testing.assert_allclose(slope * scale**2, wanted, rtol=1e-4, atol=1e-5)
