"""Distributions of vectors, density estimates, ranks, modes, errors of means, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from reference_backend import check_grads, value_of

import dovetail_random as random
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy.stats import (
    dirichlet,
    gaussian_kde,
    mode,
    multinomial,
    multivariate_normal,
    rankdata,
    sem,
)

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(3, 3))
COV = ROOT @ ROOT.T + np.eye(3)
MEAN = RNG.normal(size=3)
X = RNG.normal(size=(5, 3))


def test_multivariate_normal() -> None:
    logpdf, pdf = multivariate_normal.logpdf, multivariate_normal.pdf
    theirs = scipy.stats.multivariate_normal
    with enable_x64(True):
        np.testing.assert_allclose(logpdf(X, MEAN, COV), theirs.logpdf(X, MEAN, COV), rtol=1e-12)
        np.testing.assert_allclose(pdf(X[0], MEAN, COV), theirs.pdf(X[0], MEAN, COV), rtol=1e-12)
        np.testing.assert_allclose(logpdf(1.0, 0.5, 2.0), theirs.logpdf(1.0, 0.5, 2.0), rtol=1e-12)
        np.testing.assert_allclose(logpdf(X, MEAN, 2.0), theirs.logpdf(X, MEAN, 2.0), rtol=1e-12)
        many = np.stack([COV, 2 * COV])
        result = logpdf(X[:, None], MEAN, many)
        for i, c in enumerate(many):
            np.testing.assert_allclose(result[:, i], theirs.logpdf(X, MEAN, c), rtol=1e-12)
        check_grads(lambda x, m, r: logpdf(x, m, r @ r.T), (X[0], MEAN, ROOT), 2)
    assert logpdf(X.astype(np.float32), MEAN, COV).dtype == np.float32
    np.testing.assert_allclose(
        vmap(lambda x: logpdf(x, MEAN, COV))(X), logpdf(X, MEAN, COV), rtol=1e-5
    )
    assert np.isnan(logpdf(X[0], MEAN, np.zeros((3, 3))))
    assert np.isnan(logpdf(X[0], MEAN, -COV))


@pytest.mark.parametrize("alpha", [[0.5, 2.0, 1.0], [40.0, 7.0, 1000.0], [1.0, 1.0, 1.0]])
def test_dirichlet(alpha: list[float]) -> None:
    x = RNG.dirichlet(alpha, size=6).T
    want = scipy.stats.dirichlet.logpdf(x, alpha)
    with enable_x64(True):
        a = np.asarray(alpha)
        np.testing.assert_allclose(dirichlet.logpdf(x, a), want, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(
            value_of(dirichlet.logpdf, x[:-1], a), want, rtol=1e-7, atol=1e-10
        )
        np.testing.assert_allclose(value_of(dirichlet.pdf, x[:, 0], a), np.exp(want[0]), rtol=1e-8)
        check_grads(lambda a: dirichlet.logpdf(x, a), (a,), 1)
        off = value_of(
            dirichlet.logpdf, np.asarray([[0.2, 0.3, 1.5], [0.2, 0.3, -1], [0.2, 0.4, 0.5]]), a
        )
        np.testing.assert_array_equal(np.isneginf(off), [True, False, True])
    result = dirichlet.logpdf(x.astype(np.float32), np.float32(alpha))
    np.testing.assert_allclose(result, want, rtol=2e-3, atol=2e-3)
    assert np.isnan(value_of(dirichlet.logpdf, x[:, 0], np.float32([1, -1, 1])))


def test_multinomial() -> None:
    p = np.asarray([[0.2, 0.3, 0.5], [0.0, 0.4, 0.6]])
    x = np.asarray([[1, 2, 3], [0, 2, 4]])
    with enable_x64(True):
        want = scipy.stats.multinomial.logpmf(x, 6, p)
        np.testing.assert_allclose(multinomial.logpmf(x, 6, p), want, rtol=1e-12)
        np.testing.assert_allclose(value_of(multinomial.pmf, x, 6, p), np.exp(want), rtol=1e-12)
        big = np.asarray([300000, 700000])
        want = scipy.stats.binom.logpmf(big[0], 1000000, 0.3)
        result = value_of(multinomial.logpmf, big, 1000000, np.asarray([0.3, 0.7]))
        np.testing.assert_allclose(result, want, rtol=1e-10)
        check_grads(lambda p: multinomial.logpmf(x[0], 6, p), (p[0],), 2)
    assert np.isneginf(value_of(multinomial.logpmf, x[0], 7, p[0]))
    assert np.isneginf(value_of(multinomial.logpmf, np.asarray([3, -1]), 2, np.float32([0.5, 0.5])))
    assert np.isneginf(value_of(multinomial.logpmf, np.asarray([1, 5]), 6, np.float32([0, 1])))
    assert np.isnan(value_of(multinomial.logpmf, np.asarray([1, 5]), 6, np.float32([-0.5, 1.5])))
    assert multinomial.pmf(x, np.asarray([6, 6]), np.float32(p)).dtype == np.float32


@pytest.mark.parametrize("d", [1, 2])
def test_gaussian_kde(d: int) -> None:
    data, weights = RNG.normal(size=(d, 12)), RNG.uniform(size=12)
    at = RNG.normal(size=(d, 7))
    for options in (
        {},
        {"bw_method": "silverman"},
        {"bw_method": 0.3, "weights": weights},
        {"bw_method": lambda k: k.neff**-0.3, "weights": weights},
    ):
        theirs = scipy.stats.gaussian_kde(data, **options)
        with enable_x64(True):
            ours = gaussian_kde(data, **options)
            assert (ours.d, ours.n) == (theirs.d, theirs.n)
            for name in ("neff", "covariance", "inv_cov", "weights"):
                want = getattr(theirs, name)
                np.testing.assert_allclose(getattr(ours, name), want, rtol=1e-10, atol=1e-14)
            want = theirs(at)
            np.testing.assert_allclose(ours(at), want, rtol=1e-10)
            np.testing.assert_allclose(ours.logpdf(at), np.log(want), rtol=1e-10)
            np.testing.assert_allclose(jit(lambda k, x: k.pdf(x))(ours, at), want, rtol=1e-10)
            mean, cov = np.ones(d), np.eye(d) * 0.5
            np.testing.assert_allclose(
                ours.integrate_gaussian(mean, cov), theirs.integrate_gaussian(mean, cov), rtol=1e-10
            )
            np.testing.assert_allclose(
                ours.integrate_kde(ours), theirs.integrate_kde(theirs), rtol=1e-10
            )
            if d == 1:
                np.testing.assert_allclose(
                    ours.integrate_box_1d(-0.5, 1.5), theirs.integrate_box_1d(-0.5, 1.5), rtol=1e-10
                )
    far = gaussian_kde(data.astype(np.float32)).logpdf(np.full((d, 1), 1e3, np.float32))
    assert np.all(np.isfinite(far)) and np.all(far < -1e3)


def test_samples_of_a_kde() -> None:
    kde = gaussian_kde(np.asarray([[0.0, 10.0], [0.0, 5.0]]), 0.1, np.asarray([1.0, 3.0]))
    assert kde.resample(random.key(0)).shape == (2,)
    drawn = np.asarray(kde.resample(random.key(1), (4000,)))
    assert drawn.shape == (2, 4000)
    np.testing.assert_allclose(drawn.mean(1), [7.5, 3.75], rtol=0.05)
    slope = grad(lambda x: gaussian_kde(np.arange(3.0))(x)[0])(0.5)
    ends = [gaussian_kde(np.arange(3.0))(0.5 + h)[0] for h in (0.01, -0.01)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 0.02, rtol=1e-3)


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_rankdata(method: str) -> None:
    for a in (RNG.integers(0, 5, size=(4, 6)), RNG.integers(0, 5, size=(4, 6)).astype(np.float32)):
        for axis in (None, 0, 1, -1):
            result = value_of(lambda a: rankdata(a, method, axis=axis), a)  # noqa: B023
            want = scipy.stats.rankdata(a, method, axis=axis)
            np.testing.assert_array_equal(result, want)
            assert result.dtype == np.float32
    compiled = jit(lambda x: rankdata(x, method))(a)
    np.testing.assert_array_equal(compiled, scipy.stats.rankdata(a, method))
    gaps = np.float32([[1, np.nan], [2, 1]])
    np.testing.assert_array_equal(
        np.isnan(value_of(lambda x: rankdata(x, method, axis=1), gaps)), [[True] * 2, [False] * 2]
    )
    assert rankdata(np.zeros((0, 3)), method).shape == (0,)


def test_mode() -> None:
    a = RNG.integers(0, 4, size=(7, 5))
    for axis in (0, 1, None):
        for keepdims in (False, True):
            result, want = (
                value_of(lambda a: mode(a, axis, keepdims=keepdims), a),  # noqa: B023
                scipy.stats.mode(a, axis, keepdims=keepdims),
            )
            np.testing.assert_array_equal(result.mode, want.mode)
            np.testing.assert_array_equal(result.count, want.count)
    assert mode(a).mode.dtype == mode(a).count.dtype == np.int32
    np.testing.assert_array_equal(jit(mode)(a).mode, mode(a).mode)
    empty = mode(np.zeros((0, 2)))
    assert np.all(np.isnan(empty.mode)) and np.all(empty.count == 0) and empty.mode.shape == (2,)
    assert mode(3.0).mode == 3 and mode(3.0).count == 1


def test_sem() -> None:
    a = RNG.normal(size=(6, 4)).astype(np.float32)
    gaps = a.copy()
    gaps[[0, 2, 3, 5], [1, 0, 3, 1]] = np.nan
    for axis in (0, 1, None):
        for ddof in (0, 1):
            want = scipy.stats.sem(a, axis, ddof)
            result = value_of(lambda a: sem(a, axis, ddof), a)  # noqa: B023
            np.testing.assert_allclose(result, want, rtol=1e-5)
            want = scipy.stats.sem(gaps, axis, ddof, nan_policy="omit")
            result = value_of(lambda a: sem(a, axis, ddof, "omit"), gaps)  # noqa: B023
            np.testing.assert_allclose(result, want, rtol=1e-5)
    assert sem(a, keepdims=True).shape == (1, 4) and np.isnan(sem(gaps, None))
    assert sem(np.arange(4)).dtype == np.float32


EYE = np.eye(2, dtype=np.float32)
KDE = gaussian_kde(np.float32([[0, 1, 2], [0, 1, 5]]))
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "singular": (
        lambda: multivariate_normal.logpdf(X, MEAN, COV, True),
        NotImplementedError,
        "allow_singular is not supported",
    ),
    "covariance": (
        lambda: multivariate_normal.pdf(EYE[0], EYE[0], COV),
        ValueError,
        "multivariate_normal.pdf: vectors x and mean",
    ),
    "vector": (
        lambda: multivariate_normal.logpdf(X, MEAN, MEAN),
        ValueError,
        "matrices cov do not fit",
    ),
    "alpha": (lambda: dirichlet.pdf(EYE, EYE), ValueError, "dirichlet.pdf: alpha must be a vector"),
    "entries": (lambda: dirichlet.logpdf(MEAN, np.ones(5)), ValueError, "got shapes (3,) and (5,)"),
    "counts": (
        lambda: multinomial.pmf(MEAN, 3, MEAN),
        ValueError,
        "x and n must be integers, got float32",
    ),
    "trials": (
        lambda: multinomial.logpmf(np.arange(3), 2.5, MEAN),
        ValueError,
        "int32 and float32",
    ),
    "points": (lambda: gaussian_kde(np.ones(1)), ValueError, "two or more points in columns"),
    "dimensions": (lambda: gaussian_kde(np.ones((2, 2, 2))), ValueError, "got shape (2, 2, 2)"),
    "complex": (lambda: gaussian_kde(np.ones(3) * 1j), NotImplementedError, "no complex data"),
    "method": (lambda: gaussian_kde(MEAN, "x"), ValueError, "bw_method must be 'scott'"),
    "weights": (lambda: gaussian_kde(MEAN, weights=np.ones(2)), ValueError, "a vector of 3"),
    "coordinates": (lambda: KDE(np.ones(3)), ValueError, "points must have 2 coordinates"),
    "box": (lambda: KDE.integrate_box(0, 1), NotImplementedError, "integrate_box_1d"),
    "interval": (lambda: KDE.integrate_box_1d(0, 1), ValueError, "of one coordinate, these have 2"),
    "mean": (lambda: KDE.integrate_gaussian(MEAN, COV), ValueError, "must be of 2 coordinates"),
    "other": (
        lambda: KDE.integrate_kde(gaussian_kde(MEAN)),
        ValueError,
        "have 2 and 1 coordinates",
    ),
    "bandwidth": (lambda: KDE.set_bandwidth(), NotImplementedError, "Make another gaussian_kde"),
    "field": (lambda: setattr(KDE, "neff", 3), AttributeError, "neff cannot be set"),
    "ranks": (lambda: rankdata(MEAN, "x"), ValueError, "rankdata: method must be one of 'average'"),
    "policy": (lambda: rankdata(MEAN, nan_policy="omit"), NotImplementedError, "nan_policy='omit'"),
    "no policy": (lambda: mode(MEAN, nan_policy="x"), ValueError, "there is no nan_policy 'x'"),
    "raise": (
        lambda: sem(MEAN, nan_policy="raise"),
        NotImplementedError,
        "Use 'propagate' or 'omit'",
    ),
    "axis": (lambda: sem(MEAN, 4), ValueError, "axis 4 is out of bounds"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind) as e:
        call()
    assert text in str(e.value) and "test_stats_vectors.py" in str(e.value)
