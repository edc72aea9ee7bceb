"""Special functions: values against SciPy and mpmath, at ordinary and at hostile arguments."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from reference_backend import program
from scipy import special as reference
from special_cases import ARGUMENTS, INF, NAN, wanted

import dovetail_numpy as dnp
import dovetail_scipy.special as special
from dovetail_ad import jvp
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


# Which are made of others, and long to compile: compiled as float32, as float64 if all is tested.
LONG = ("betaln", "comb", "expn", "gammaincc", "hyp1f1", "hyp2f1", "owens_t", "poch")


@pytest.mark.parametrize("name", ARGUMENTS)
def test_double_precision(name: str) -> None:
    """Values are those of SciPy, to a few units in the last digit."""
    args = ARGUMENTS[name]
    with enable_x64(True):
        f = getattr(special, name)
        got = np.asarray((program(f, *args) if name in LONG else f)(*args))
    want = wanted(name, *args)
    assert got.dtype == np.float64
    if name in ("erf", "dawsn", "i1", "i1e", "erfinv"):
        zeros = args[0] == 0
        assert (np.signbit(got[zeros]) == np.signbit(args[0][zeros])).all()
    tolerance = LOOSE.get(name, 6e-15)
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol=1e-15 if name == "betaln" else 1e-300
    )


# The ends of the domains of functions of two and three arguments.
EDGES_OF_TWO: list[tuple[str, tuple[float, ...], float]] = [
    ("xlogy", (0.0, 0.0), 0.0), ("xlogy", (0.0, NAN), NAN),
    ("xlog1py", (0.0, -1.0), 0.0), ("rel_entr", (0.0, 0.0), 0.0),
    ("rel_entr", (1.0, 0.0), INF), ("kl_div", (0.0, 2.0), 2.0),
    ("kl_div", (-1.0, 2.0), INF), ("kl_div", (NAN, 2.0), NAN),
    ("boxcox", (0.0, -1.0), -INF), ("boxcox", (-1.0, 2.0), NAN),
    ("gammainc", (0.0, 1.0), 1.0), ("gammainc", (2.0, 0.0), 0.0),
    ("gammainc", (2.0, INF), 1.0), ("gammaincc", (INF, 1.0), 1.0),
    ("gammainc", (-1.0, 2.0), NAN), ("gammaincc", (2.0, -1.0), NAN),
    ("betainc", (1.0, 2.0, 0.0), 0.0), ("betainc", (1.0, 2.0, 1.0), 1.0),
    ("betainc", (1.0, 2.0, 1.1), NAN), ("betainc", (0.0, 2.0, 0.5), 1.0),
    ("zeta", (1.0, 2.0), INF), ("zeta", (2.0, 0.0), INF), ("zeta", (0.5, 2.0), NAN),
    ("zeta", (INF, 1.0), 1.0), ("zeta", (3.0, INF), 0.0),
    ("comb", (5.0, 6.0), 0.0), ("comb", (-1.0, 2.0), 0.0), ("poch", (0.0, 0.0), 1.0),
    ("poch", (-2.0, 2.0), 2.0), ("poch", (-2.0, 3.0), 0.0),
    ("expn", (1, 0.0), INF), ("expn", (3, 0.0), 0.5), ("expn", (1, -1.0), NAN),
    ("expn", (-1, 2.0), float(3 * np.exp(-2.0) / 4)), ("owens_t", (1.0, INF), 0.07932762696572854),
    ("hyp1f1", (0.0, 0.0, 1.0), 1.0), ("hyp1f1", (1.0, -2.0, 1.0), INF),
    ("hyp1f1", (-2.0, -3.0, 0.5), 1.375), ("hyp1f1", (-2.0, -2.0, -30.0), 421.0),
    ("hyp1f1", (-3.0, -2.0, 1.0), INF), ("hyp1f1", (-1.0, -5.0, -30.0), -5.0),
    ("hyp2f1", (1.0, 0.5, 2.5, 1.0), 1.5), ("hyp2f1", (1.0, 1.0, 2.0, 1.0), INF),
    ("hyp2f1", (-1.0, 2.0, 1.0, 3.0), -5.0), ("hyp2f1", (0.5, 0.5, 1.5, 2.0), NAN),
]  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_single_precision(name: str) -> None:
    """Values of float32 numbers are those of double precision, rounded, and at ends of domains as
    they should be; compiled and mapped."""
    ends = [(at, value) for function, at, value in EDGES_OF_TWO if function == name]
    usual, size = ARGUMENTS[name], ARGUMENTS[name][0].size
    args = [np.append(a, [at[i] for at, _ in ends]) for i, a in enumerate(usual)]
    got = np.asarray(jit(vmap(getattr(special, name)))(*map(np.float32, args)))
    for (at, value), result in zip(ends, got[size:], strict=True):
        assert result == pytest.approx(value, rel=3e-6, nan_ok=True), (at, result)
    args, got = [np.float32(a) for a in usual], got[:size]
    with np.errstate(over="ignore", under="ignore"):
        want = wanted(name, *args).astype(np.float32)
    assert got.dtype == np.float32
    tolerance = 2e-5 if name in ("hyp2f1", "hyp1f1", "betainc") else 3e-6
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol={"betaln": 1e-7, "betainc": 1e-33}.get(name, 2e-38)
    )


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
    n, x = (v.ravel() for v in np.meshgrid([0, 1, 2, 5], [-3.3, -0.2, 0.1, 1.0, 7.5, 90.0]))
    with enable_x64(True):
        *got, high, none = np.asarray(
            special.polygamma(np.append(n, [160, -1]), np.append(x, [7.0, 2.0]))
        )
    want = [float(mpmath.polygamma(int(k), v)) for k, v in zip(n, x)]
    np.testing.assert_allclose(got, want, rtol=1e-13)
    np.testing.assert_allclose(high, float(mpmath.polygamma(160, 7)), rtol=1e-12)
    assert np.isnan(none)


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
        logs, wofz = special.loggamma(PLANE), special.wofz(PLANE / 2)
        gamma = program(special.gamma, PLANE)(PLANE)
        erfcx = program(special.erfcx, PLANE)(PLANE / 2)
    exact = [mpmath.mpc(z) for z in PLANE]
    np.testing.assert_allclose(logs, [complex(mpmath.loggamma(z)) for z in exact], rtol=1e-13)
    np.testing.assert_allclose(gamma, [complex(mpmath.gamma(z)) for z in exact], rtol=1e-13)
    half = [z / 2 for z in exact]
    want = [complex(mpmath.exp(-z * z) * mpmath.erfc(-1j * z)) for z in half]
    np.testing.assert_allclose(wofz, want, rtol=2e-13)
    want = [complex(mpmath.exp(z * z) * mpmath.erfc(z)) for z in half]
    np.testing.assert_allclose(erfcx, want, rtol=2e-13)
    halves = np.append(PLANE, -2).astype(np.complex64)
    single = np.asarray(special.loggamma(halves[:-1]))
    assert single.dtype == np.complex64
    np.testing.assert_allclose(single, logs, rtol=2e-5)
    assert np.isnan(program(special.gamma, halves)(halves)[-1])
    for f, g in ((special.expit, reference.expit), (special.xlogy, reference.xlogy)):
        z = PLANE.astype(np.complex64)[:3]
        args = (z,) if f is special.expit else (z, z)
        want = 1 / (1 + np.exp(-z)) if f is special.expit else g(*args)
        np.testing.assert_allclose(program(f, *args)(*args), want, rtol=1e-5)


def test_bessel_jn() -> None:
    """Orders 0 to v, of small, middle, large and negative arguments, whatever ``n_iter`` is."""
    x = np.array([0.0, 1e-3, 0.9, -2.0, 8.0, 24.0, 26.0, 60.0, 1234.5, INF])
    with enable_x64(True):
        got = special.bessel_jn(x, v=12)
        again = program(lambda x: special.bessel_jn(x, v=12, n_iter=200), x)(x)
    assert got.shape == (13, 10)
    want = np.array([reference.jv(n, x) for n in range(13)])
    want[:, -1] = 0
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=3e-16)
    np.testing.assert_allclose(again, want, rtol=1e-11, atol=3e-16)
    three = np.float32([3.0])
    single = program(lambda x: special.bessel_jn(x, v=0), three)(three)
    np.testing.assert_allclose(single, [[reference.jv(0, 3.0)]], rtol=1e-6)


def test_spherical_harmonics() -> None:
    """All degrees up to 6 and orders of both signs; ``n_max`` clips."""
    n = np.array([k for k in range(7) for _ in range(-k, k + 1)])
    m = np.array([j for k in range(7) for j in range(-k, k + 1)])
    theta, phi = np.linspace(0.05, 3.0, n.size), np.linspace(0.0, 6.0, n.size)
    with enable_x64(True):
        got = special.sph_harm_y(n, m, theta, phi)
        degrees = np.array([9]), np.array([1])
        clip = lambda theta: special.sph_harm_y(*degrees, theta, 0.4, n_max=4)  # noqa: E731
        clipped = program(clip, 0.3)(0.3)
    np.testing.assert_allclose(got, reference.sph_harm_y(n, m, theta, phi), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(clipped, [reference.sph_harm_y(4, 1, 0.3, 0.4)], rtol=1e-13)


def test_associated_legendre_functions() -> None:
    """All orders and degrees up to 6, plain and orthonormal, and their derivatives."""
    z = np.linspace(-0.95, 0.9, 7)
    want, slope = reference.assoc_legendre_p_all(6, 6, z, diff_n=1).swapaxes(1, 2)[:, :7]
    normed = reference.assoc_legendre_p_all(6, 6, z, norm=True).swapaxes(1, 2)[0, :7]
    with enable_x64(True), pytest.deprecated_call():
        plain = special.lpmn_values(6, 6, z, False)
        both = special.lpmn(6, 6, z)
        unit = special.lpmn_values(6, 6, z, True)
        ones = np.ones_like(z)
        pushed = jvp(lambda z: special.lpmn_values(6, 6, z, False), (z,), (ones,))[1]
        least = special.lpmn_values(0, 0, np.float32(z), False)
    np.testing.assert_allclose(plain, want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both[0], want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both[1], slope, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(pushed, slope, rtol=1e-11, atol=1e-10)
    # SciPy's are orthonormal over the cosine, without the sphere's azimuth.
    np.testing.assert_allclose(unit, normed / np.sqrt(2 * np.pi), rtol=1e-12, atol=1e-12)
    assert least.shape == (1, 1, 7)
    assert least.dtype == np.float32


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
            program(special.comb, 50, np.arange(20))(50, np.arange(20)).tolist()
            == reference.comb(50, np.arange(20), exact=False).round().tolist()
        )
        repeated = lambda n, k: special.comb(n, k, repetition=True)  # noqa: E731
        assert float(program(repeated, 5, 2)(5, 2)) == 15
        assert float(program(special.expn, 3, 0.0)(3, 0.0)) == 0.5


def test_multigammaln() -> None:
    """The sum of logarithms of gamma functions."""
    a = np.array([2.5, 7.0, 300.0])
    with enable_x64(True):
        got = program(lambda a: special.multigammaln(a, 4), a)(a)
    np.testing.assert_allclose(got, reference.multigammaln(a, 4), rtol=1e-14)


def test_names_of_nn() -> None:
    """``softmax`` and ``log_softmax`` are over all axes unless one is given."""
    x = np.float32([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
    np.testing.assert_allclose(special.softmax(x, axis=0), reference.softmax(x, axis=0), rtol=1e-6)
    np.testing.assert_allclose(special.softmax(x), reference.softmax(x), rtol=1e-6)
    np.testing.assert_allclose(special.log_softmax(x), reference.log_softmax(x), rtol=1e-6)
    np.testing.assert_allclose(
        special.logsumexp(x, b=dnp.asarray(x)), reference.logsumexp(x, b=x), rtol=1e-6
    )
