"""Special functions: values against SciPy and mpmath, at ordinary and at hostile arguments."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special as reference
from special_cases import ARGUMENTS, INF, NAN, wanted

import dovetail_numpy as dnp
import dovetail_scipy.special as special
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

# Where SciPy is less accurate than what is tested, or a zero is near.
LOOSE = {
    "log_ndtr": 1e-13,
    "hyp2f1": 1e-12,
    "hyp1f1": 1e-12,
    "zeta": 1e-13,
    "owens_t": 1e-13,
    "poch": 1e-13,
}
LOOSE |= {"betainc": 1e-13, "gammainc": 1e-13, "gammaincc": 1e-13, "beta": 1e-13, "betaln": 1e-13}
LOOSE |= {
    "expi": 2e-14,
    "kl_div": 1e-11,
    "erfinv": 1e-13,
    "rel_entr": 1e-12,
    "erfc": 2e-14,
    "ndtr": 1e-12,
    "i0": 1e-14,
    "i1": 1e-14,
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_double_precision(name: str) -> None:
    """Values are those of SciPy, to a few units in the last place."""
    args = ARGUMENTS[name]
    with enable_x64(True):
        got = np.asarray(getattr(special, name)(*args))
    want = wanted(name, *args)
    assert got.dtype == np.float64
    if name in ("erf", "dawsn", "i1", "i1e", "erfinv"):
        zeros = args[0] == 0
        assert (np.signbit(got[zeros]) == np.signbit(args[0][zeros])).all()
    tolerance = LOOSE.get(name, 6e-15)
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol=1e-15 if name == "betaln" else 1e-300
    )


@pytest.mark.parametrize("name", ARGUMENTS)
def test_single_precision(name: str) -> None:
    """Values of float32 numbers are those of double precision, rounded; compiled and mapped."""
    args = tuple(np.asarray(a, np.float32) for a in ARGUMENTS[name])
    got = np.asarray(jit(vmap(getattr(special, name)))(*args))
    with np.errstate(over="ignore", under="ignore"):
        want = wanted(name, *args).astype(np.float32)
    assert got.dtype == np.float32
    tolerance = 2e-5 if name in ("hyp2f1", "hyp1f1", "betainc") else 3e-6
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol={"betaln": 1e-7, "betainc": 1e-33}.get(name, 2e-38)
    )


def test_edges_of_two() -> None:
    """The ends of the domains of functions of two and three arguments."""
    cases: list[tuple[Any, tuple[float, ...], float]] = [
        (special.xlogy, (0.0, 0.0), 0.0), (special.xlogy, (0.0, NAN), NAN),
        (special.xlog1py, (0.0, -1.0), 0.0), (special.rel_entr, (0.0, 0.0), 0.0),
        (special.rel_entr, (1.0, 0.0), INF), (special.kl_div, (0.0, 2.0), 2.0),
        (special.kl_div, (-1.0, 2.0), INF), (special.kl_div, (NAN, 2.0), NAN),
        (special.boxcox, (0.0, -1.0), NAN), (special.boxcox, (-1.0, 2.0), NAN),
        (special.gammainc, (0.0, 1.0), 1.0), (special.gammainc, (2.0, 0.0), 0.0),
        (special.gammainc, (2.0, INF), 1.0), (special.gammaincc, (INF, 1.0), 1.0),
        (special.gammainc, (-1.0, 2.0), NAN), (special.gammaincc, (2.0, -1.0), NAN),
        (special.betainc, (1.0, 2.0, 0.0), 0.0), (special.betainc, (1.0, 2.0, 1.0), 1.0),
        (special.betainc, (1.0, 2.0, 1.1), NAN), (special.betainc, (0.0, 2.0, 0.5), 1.0),
        (special.zeta, (1.0, 2.0), INF), (special.zeta, (2.0, 0.0), INF), (special.zeta, (0.5, 2.0), NAN),
        (special.zeta, (INF, 1.0), 1.0), (special.zeta, (3.0, INF), 0.0),
        (special.comb, (5.0, 6.0), 0.0), (special.comb, (-1.0, 2.0), 0.0), (special.poch, (0.0, 0.0), 1.0),
        (special.poch, (-2.0, 2.0), 2.0), (special.poch, (-2.0, 3.0), 0.0),
        (special.expn, (1, 0.0), INF), (special.expn, (3, 0.0), 0.5), (special.expn, (1, -1.0), NAN),
        (special.expn, (-1, 2.0), float(3 * np.exp(-2.0) / 4)), (special.owens_t, (1.0, INF), 0.07932762696572854),
        (special.hyp1f1, (0.0, 0.0, 1.0), 1.0), (special.hyp1f1, (1.0, -2.0, 1.0), INF),
        (special.hyp2f1, (1.0, 0.5, 2.5, 1.0), 1.5), (special.hyp2f1, (1.0, 1.0, 2.0, 1.0), INF),
        (special.hyp2f1, (-1.0, 2.0, 1.0, 3.0), -5.0), (special.hyp2f1, (0.5, 0.5, 1.5, 2.0), NAN),
    ]  # fmt: skip
    for function, args, want in cases:
        got = float(function(*args))
        assert got == pytest.approx(want, rel=3e-6, nan_ok=True), (function.__name__, args, got)


def test_integrals() -> None:
    """The functions that return pairs, far out, too, where angles must be reduced."""
    x = np.array([-40.0, -2.5, -0.3, 0.0, 0.01, 0.8, 1.3, 3.7, 5.0, 60.0, 1000.5, INF, -INF])
    with enable_x64(True):
        s, c = special.fresnel(x)
        si, ci = special.sici(x)
    for got, f in ((s, mpmath.fresnels), (c, mpmath.fresnelc), (si, mpmath.si)):
        np.testing.assert_allclose(got, [float(f(v)) for v in x], rtol=1e-14)
    want = [float(mpmath.re(mpmath.ci(v))) for v in x[:-1]]
    np.testing.assert_allclose(ci[:-1], want, rtol=1e-13)
    assert np.isnan(ci[-1])


def test_polygamma() -> None:
    """Polygamma functions of positive and of negative numbers, and of high order."""
    n, x = np.meshgrid([0, 1, 2, 5], [-3.3, -0.2, 0.1, 1.0, 7.5, 90.0])
    with enable_x64(True):
        got = special.polygamma(n, x)
        high = special.polygamma(np.array([160]), np.array([7.0]))
        assert np.isnan(special.polygamma(-1, 2.0))
    want = [[float(mpmath.polygamma(int(k), v)) for k, v in zip(*row)] for row in zip(n, x)]
    np.testing.assert_allclose(got, want, rtol=1e-13)
    np.testing.assert_allclose(high, [float(mpmath.polygamma(160, 7))], rtol=1e-12)


def test_riemann() -> None:
    """Riemann's zeta function, left of 1 too; and Hurwitz's at negative numbers and integers."""
    x = np.array([-7.5, -3.0, -2.0, -0.5, 0.0, 0.5, 2.0, 30.0, 1.0, INF])
    with enable_x64(True):
        got = special.zeta(x)
        hurwitz = special.zeta(np.array([2.0, 3.0, 2.5, 2.0]), np.array([-1.3, -0.4, -0.4, -2.0]))
    want = [float(mpmath.zeta(v)) for v in x[:-2]] + [INF, 1.0]
    np.testing.assert_allclose(got, want, rtol=2e-14, atol=1e-17)
    want = [
        float(sum((k - v) ** -p for k in range(3)) + mpmath.zeta(p, 3 - v))
        for v, p in ((1.3, 2), (0.4, 3))
    ]
    np.testing.assert_allclose(hurwitz, [*want, NAN, INF], rtol=1e-13)


PLANE = np.array(
    [
        0.3 + 0.2j,
        1.02 + 0.01j,
        2.0 - 0.3j,
        -2.4 + 0.1j,
        -2.4 - 0.1j,
        5 - 9j,
        -8 + 12j,
        0.1 - 0.01j,
        30 + 1j,
    ]
)


def test_complex() -> None:
    """Functions of complex numbers against mpmath, in all quadrants."""
    with enable_x64(True):
        logs, gamma = special.loggamma(PLANE), special.gamma(PLANE)
        wofz, erfcx = special.wofz(PLANE / 2), special.erfcx(PLANE / 2)
    exact = [mpmath.mpc(z) for z in PLANE]
    np.testing.assert_allclose(logs, [complex(mpmath.loggamma(z)) for z in exact], rtol=1e-13)
    np.testing.assert_allclose(gamma, [complex(mpmath.gamma(z)) for z in exact], rtol=1e-13)
    half = [z / 2 for z in exact]
    want = [complex(mpmath.exp(-z * z) * mpmath.erfc(-1j * z)) for z in half]
    np.testing.assert_allclose(wofz, want, rtol=2e-13)
    want = [complex(mpmath.exp(z * z) * mpmath.erfc(z)) for z in half]
    np.testing.assert_allclose(erfcx, want, rtol=2e-13)
    single = np.asarray(special.loggamma(PLANE.astype(np.complex64)))
    assert single.dtype == np.complex64
    np.testing.assert_allclose(single, logs, rtol=2e-5)
    assert np.isnan(special.gamma(np.complex64(-2)))
    for f, g in ((special.expit, reference.expit), (special.xlogy, reference.xlogy)):
        z = PLANE.astype(np.complex64)[:3]
        args = (z,) if f is special.expit else (z, z)
        want = 1 / (1 + np.exp(-z)) if f is special.expit else g(*args)
        np.testing.assert_allclose(f(*args), want, rtol=1e-5)


def test_bessel_jn() -> None:
    """Orders 0 to v, of small, middle, large and negative arguments, whatever ``n_iter`` is."""
    x = np.array([0.0, 1e-3, 0.9, -2.0, 8.0, 24.0, 26.0, 60.0, 1234.5, INF])
    with enable_x64(True):
        got = special.bessel_jn(x, v=12)
        again = special.bessel_jn(x, v=12, n_iter=200)
    assert got.shape == (13, 10)
    want = np.array([reference.jv(n, x) for n in range(13)])
    want[:, -1] = 0
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=3e-16)
    np.testing.assert_allclose(again, want, rtol=1e-11, atol=3e-16)
    single = special.bessel_jn(np.float32([3.0]), v=0)
    np.testing.assert_allclose(single, [[reference.jv(0, 3.0)]], rtol=1e-6)


def test_spherical_harmonics() -> None:
    """All degrees up to 6 and orders of both signs; ``n_max`` clips."""
    n = np.array([k for k in range(7) for _ in range(-k, k + 1)])
    m = np.array([j for k in range(7) for j in range(-k, k + 1)])
    theta, phi = np.linspace(0.05, 3.0, n.size), np.linspace(0.0, 6.0, n.size)
    with enable_x64(True):
        got = special.sph_harm_y(n, m, theta, phi)
        clipped = special.sph_harm_y(np.array([9]), np.array([1]), 0.3, 0.4, n_max=4)
    np.testing.assert_allclose(got, reference.sph_harm_y(n, m, theta, phi), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(clipped, [reference.sph_harm_y(4, 1, 0.3, 0.4)], rtol=1e-13)


def test_bernoulli() -> None:
    """Correctly rounded, and B(0) to B(n) in number."""
    with enable_x64(True):
        got = np.asarray(special.bernoulli(60))
    assert got.tolist() == [float(mpmath.bernoulli(k)) for k in range(61)]
    assert special.bernoulli(0).shape == (1,)


def test_counting_is_exact() -> None:
    """Factorials and binomial coefficients of integers are integers."""
    n = np.arange(11)
    got = np.asarray(special.factorial(n))
    assert got.tolist() == [float(np.prod(np.arange(1, k + 1), dtype=float)) for k in n]
    with enable_x64(True):
        assert (
            special.comb(50, np.arange(20)).tolist()
            == reference.comb(50, np.arange(20), exact=False).round().tolist()
        )
        assert float(special.comb(5, 2, repetition=True)) == 15


def test_multigammaln() -> None:
    """The sum of logarithms of gamma functions."""
    a = np.array([2.5, 7.0, 300.0])
    with enable_x64(True):
        got = special.multigammaln(a, 4)
    np.testing.assert_allclose(got, reference.multigammaln(a, 4), rtol=1e-14)


def test_names_of_nn() -> None:
    """``softmax``, ``log_softmax`` and ``logsumexp`` are those of ``dovetail.nn``."""
    x = np.float32([1.0, 2.0, 4.0])
    np.testing.assert_allclose(special.softmax(x), reference.softmax(x), rtol=1e-6)
    np.testing.assert_allclose(special.log_softmax(x), reference.log_softmax(x), rtol=1e-6)
    np.testing.assert_allclose(
        special.logsumexp(x, b=dnp.asarray(x)), reference.logsumexp(x, b=x), rtol=1e-6
    )
