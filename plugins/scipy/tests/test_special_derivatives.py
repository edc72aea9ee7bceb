"""Special functions: derivatives in every argument against differences, and at edges.

Most are run by the NumPy reference backend, which needs no time to compile; those at edges by XLA.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from reference_backend import program

import dovetail_numpy as dnp
import dovetail_scipy.special as special
from dovetail_ad import grad, hessian, jvp
from dovetail_core import enable_x64
from dovetail_jit import jit

INF, NAN = np.inf, np.nan
X = np.array([0.21, 0.83])
CASES: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "beta": ((X * 5, X + 0.3), (0, 1)), "betaln": ((X * 50, X + 9.0), (0, 1)),
    "betainc": ((X * 5, X + 2.3, X), (0, 1, 2)), "boxcox": ((X, np.array([1e-9, 1.3])), (0, 1)),

    "dawsn": ((np.array([0.7, 9.0]),), (0,)), "digamma": ((np.array([-2.4, 3.3]),), (0,)),
    "entr": ((X,), (0,)), "erf": ((X,), (0,)), "erfc": ((X * 5,), (0,)), "erfcx": ((np.array([0.4, 7.0]),), (0,)),
    "erfinv": ((X,), (0,)), "exp1": ((X * 3,), (0,)), "expi": ((X * 9,), (0,)), "expit": ((X,), (0,)),
    "expn": ((np.array([2.0, 3.0]), X * 3), (1,)), "factorial": ((X * 5,), (0,)),
    "gamma": ((np.array([-2.4, 3.3]),), (0,)), "gammainc": ((np.array([0.6, 28.0]), np.array([1.9, 25.0])), (0, 1)),
    "gammaincc": ((np.array([2.6, 28.0]), np.array([0.4, 33.0])), (0, 1)), "gammaln": ((X * 20,), (0,)),
    "hyp1f1": ((X * 3, X + 1.0, np.array([-2.2, 3.1])), (0, 1, 2)),
    "hyp2f1": ((X * 3, X + 1.0, X + 2.0, np.array([-2.2, 0.8])), (0, 1, 2, 3)),
    "i0": ((X * 14,), (0,)), "i0e": ((X * 14,), (0,)), "i1": ((X * 14,), (0,)), "i1e": ((X * 14,), (0,)),
    "kl_div": ((X, X[::-1]), (0, 1)), "log_ndtr": ((np.array([-9.0, 0.4]),), (0,)), "logit": ((X,), (0,)),
    "ndtr": ((X,), (0,)), "ndtri": ((X,), (0,)), "owens_t": ((X * 2, np.array([0.4, 2.0])), (0, 1)),
    "poch": ((X * 4, X), (0, 1)), "rel_entr": ((X, X[::-1]), (0, 1)), "spence": ((np.array([0.1, 1.02]),), (0,)),
    "xlog1py": ((X, X), (0, 1)), "xlogy": ((X, X), (0, 1)), "zeta": ((X + 1.2, X * 4), (0, 1)),
}  # fmt: skip
SECOND = ["boxcox", "gammainc", "kl_div", "log_ndtr", "zeta"]


def _differences(f: Any, args: tuple[Any, ...], i: int) -> Any:
    """The derivative by the argument ``i``, by differences of fourth order."""
    h = 1e-3 * np.maximum(np.abs(args[i]), 0.05)
    total = 0.0
    for k, weight in ((1, 8 / 12), (2, -1 / 12)):
        for sign in (1, -1):
            moved = (*args[:i], args[i] + sign * k * h, *args[i + 1 :])
            total = total + sign * weight * np.asarray(f(*moved))
    return total / h


def _slope(f: Any, i: int) -> Any:
    """The derivative by the argument ``i``, in forward mode."""

    def slope(*args: Any) -> Any:
        one = dnp.ones_like(args[i])
        return jvp(lambda v: f(*args[:i], v, *args[i + 1 :]), (args[i],), (one,))[1]

    return slope


def _agrees(f: Any, args: tuple[Any, ...], i: int, rtol: float, atol: float = 0.0) -> None:
    """The derivative by the argument ``i`` is that of differences of the function itself."""
    want = _differences(program(f, *args), args, i)
    result = program(_slope(f, i), *args)(*args)
    np.testing.assert_allclose(result, want, rtol=rtol, atol=atol * np.abs(want).max())


@pytest.mark.parametrize("name", CASES)
def test_first_derivatives(name: str) -> None:
    """In all arguments that have one, forward, and backward at once."""
    args, argnums = CASES[name]
    f = getattr(special, name)
    with enable_x64(True):
        value = program(f, *args)
        backward = program(grad(lambda *a: f(*a).sum(), argnums), *args)
        for i, result in zip(argnums, backward(*args)):
            want = _differences(value, args, i)
            np.testing.assert_allclose(result, want, rtol=2e-8, atol=1e-10 * np.abs(want).max())


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name: str) -> None:
    """Derivatives of derivatives, mixed ones too: of forward mode against differences."""
    args, argnums = CASES[name]
    f = getattr(special, name)
    with enable_x64(True):
        first = _slope(f, argnums[0])
        for i in argnums[:2]:
            _agrees(first, args, i, 3e-7, 1e-9)


def test_backward_over_backward() -> None:
    """Second derivatives of functions with loops in reverse mode."""
    with enable_x64(True):
        point = np.array([1.7, 2.2])
        second = program(hessian(lambda v: special.gammainc(v[0], v[1])), point)
        got = np.asarray(second(point))
        first = program(_slope(special.gammainc, 0), *point)
        want = _differences(first, (np.array(1.7), np.array(2.2)), 1)
    np.testing.assert_allclose(got[0, 1], want, rtol=1e-8)
    np.testing.assert_allclose(got[1, 0], got[0, 1], rtol=1e-10)


def test_far_derivatives_do_not_cancel() -> None:
    """Derivatives of functions for which the recurrence of derivatives cancels, far out."""
    with enable_x64(True):
        at = lambda f, x: float(program(f, x)(x))  # noqa: E731
        first = [at(grad(f), 200.0) for f in (special.erfcx, special.dawsn, special.i0e)]
        second = at(grad(grad(special.log_ndtr)), -1e4)
        third = at(grad(grad(grad(special.erfcx))), 30.0)
    mpmath.mp.dps = 40
    try:
        x = mpmath.mpf(200)
        erfcx = 2 * x * mpmath.exp(x * x) * mpmath.erfc(x) - 2 / mpmath.sqrt(mpmath.pi)
        with mpmath.workdps(60):
            dawson = 1 - 2 * x * _dawson(x)
        bessel = (mpmath.besseli(1, x) - mpmath.besseli(0, x)) * mpmath.exp(-x)
        np.testing.assert_allclose(first, [float(erfcx), float(dawson), float(bessel)], rtol=1e-13)
        want = mpmath.diff(lambda t: mpmath.exp(t * t) * mpmath.erfc(t), 30, 3)
        np.testing.assert_allclose(third, float(want), rtol=1e-12)
    finally:
        mpmath.mp.dps = 15
    np.testing.assert_allclose(second, -1 + 1e-8, rtol=1e-12)


def _dawson(x: Any) -> Any:
    s, term, total = 1 / (2 * x * x), mpmath.mpf(1), mpmath.mpf(1)
    for k in range(30):
        term *= (2 * k + 1) * s
        total += term
    return total / (2 * x)


def test_edges() -> None:
    """Derivatives at zeros, poles and ends of domains."""
    cases: list[tuple[Any, tuple[float, ...], int, float]] = [
        (special.xlogy, (0.0, 2.0), 1, 0.0), (special.xlogy, (0.0, 2.0), 0, np.log(2.0)),
        (special.xlogy, (0.0, 0.0), 0, -INF), (special.entr, (0.0,), 0, INF), (special.entr, (-1.0,), 0, 0.0),
        (special.rel_entr, (0.0, 1.0), 1, 0.0), (special.kl_div, (0.0, 1.0), 1, 1.0),
        (special.logit, (0.0,), 0, INF), (special.logit, (1.0,), 0, INF), (special.erfinv, (0.0,), 0, 0.886226925),
        (special.log_ndtr, (-300.0,), 0, 300.00333), (special.log_ndtr, (40.0,), 0, 0.0),
        (special.boxcox, (3.0, 0.0), 1, 0.5 * np.log(3.0) ** 2), (special.spence, (1.0,), 0, -1.0),
        (special.i1, (0.0,), 0, 0.5), (special.i1e, (0.0,), 0, 0.5), (special.dawsn, (0.0,), 0, 1.0),
        (special.betainc, (1.0, 3.0, 0.0), 2, 3.0), (special.gammainc, (1.0, 0.0), 1, 1.0),
        (special.gammasgn, (2.0,), 0, 0.0), (special.owens_t, (0.0, 1.0), 1, 0.25 / np.pi),
        (special.poch, (3.0, 0.0), 1, 0.92278434), (special.hyp1f1, (0.0, 2.0, 1.0), 2, 0.0),
    ]  # fmt: skip
    slopes = jit(lambda points: [grad(f, i)(*args) for (f, _, i, _), args in zip(cases, points)])
    result = slopes([args for _, args, _, _ in cases])
    for (function, args, _, want), got in zip(cases, map(float, result)):
        assert got == pytest.approx(want, rel=3e-6, nan_ok=True), (function.__name__, args, got)


def test_complex_derivatives() -> None:
    """Holomorphic functions: derivatives are those of differences along the real axis."""
    z, h = np.array([0.7 + 0.4j, -1.6 + 2.0j, 9.0 + 3.0j]), 1e-5
    with enable_x64(True):
        for f in (special.loggamma, special.wofz, special.erfcx, special.gamma):
            got, value = program(_slope(f, 0), z)(z), program(f, z)
            want = (np.asarray(value(z + h)) - np.asarray(value(z - h))) / (2 * h)
            np.testing.assert_allclose(got, want, rtol=1e-7)


def test_pairs_and_orders() -> None:
    """Functions that return several arrays, and those with integer parameters."""
    with enable_x64(True):
        x = np.array([0.4, 1.4, 2.9])
        for f in (lambda v: special.fresnel(v)[0], lambda v: special.fresnel(v)[1]):
            _agrees(f, (x,), 0, 1e-6)
        for i in (0, 1):
            _agrees(lambda v, i=i: special.sici(v)[i], (x,), 0, 1e-7)
        _agrees(lambda v: special.bessel_jn(v, v=3), (x,), 0, 1e-6)
        _agrees(lambda v: special.polygamma(2, v), (x,), 0, 1e-6)
        n, m = np.array([3, 4, 4]), np.array([2, -3, 0])
        angle = np.array([0.4, 1.9, 2.7])
        _agrees(lambda v: special.sph_harm_y(n, m, v, 0.3).real, (angle,), 0, 1e-8)
        _agrees(lambda v: special.multigammaln(v, 3), (np.array(4.0),), 0, 1e-9)


def test_no_derivative() -> None:
    """Orders have no derivative: an error says so, and what to do."""
    with pytest.raises(
        NotImplementedError, match=r"expn has no derivative in its order n.*stop_gradient"
    ):
        grad(lambda n: special.expn(n, 0.5))(2.0)


# Where a series or fraction ends at an integer, and where two methods of computation meet.
BOUNDARIES: dict[str, tuple[Any, list[tuple[float, ...]], tuple[int, ...]]] = {
    "gammainc": (
        lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
        [(1, 2), (2, 2), (3, 1.2), (7, 10), (20, 21), (21, 21), (21, 40), (0.5, 0.5)], (0,),
    ),
    "gammaincc": (
        lambda a, x: mpmath.gammainc(a, x, regularized=True),
        [(1, 2), (2, 2), (3, 1.2), (7, 10), (20, 21), (21, 21), (0.5, 0.5)], (0,),
    ),
    "betainc": (
        lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
        [(0.5, 0.5, 0.3), (0.5, 0.5, 0.95), (1, 1, 0.5), (2, 3, 0.4), (8, 8, 0.5), (0.3, 8, 0.02),
         (8, 30, 0.3), (3.5, 2, 0.75)], (0, 1),
    ),
    "hyp1f1": (
        mpmath.hyp1f1, [(-2, 1.5, 0.7), (-3, 0.5, 2), (0, 2, 1), (1, 1, 0.5), (-1, -1.5, 0.3)],
        (0, 1),
    ),
    "hyp2f1": (
        mpmath.hyp2f1, [(-2, 1.5, 0.7, 0.3), (1, 1, 2, 0.5), (0, 2, 1, 0.4), (1, -3, 0.5, -0.6),
                        (1, 2, 2, 0.5), (2, 1, 1, -3)], (0, 1, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDARIES)
def test_derivatives_at_integers_and_where_methods_meet(name: str):
    exact, points, argnums = BOUNDARIES[name]
    with enable_x64():
        columns = [np.array(c, np.float64) for c in zip(*points)]
        for i in argnums:
            result = program(_slope(getattr(special, name), i), *columns)(*columns)
            wanted = [
                float(mpmath.diff(lambda t, p=p, i=i: exact(*p[:i], t, *p[i + 1 :]), p[i]))
                for p in points
            ]
            np.testing.assert_allclose(result, wanted, rtol=2e-8, atol=1e-12)


def test_a_tail_that_is_no_complement():
    with enable_x64():
        np.testing.assert_allclose(special.betainc(5000.0, 0.5, 0.98), 7.580371583764416e-46)
