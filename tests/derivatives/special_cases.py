"""Special functions of one variable, as expressions, and their exact values."""

from __future__ import annotations

from math import inf
from typing import Any

import mpmath as mp

from . import jets as j
from .cases import POSITIVE, UNIT, Case, absolute, mirrored


def _lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x))


_psi = [lambda x, n=n: mp.psi(n, x) for n in range(4)]
_digamma_poles = (-5.0, -2.0, -1.0, 0.0)


def _i(n: int) -> Any:
    return lambda x: mp.besseli(n, x)


def _i0_slope(x: Any) -> Any:
    return (mp.besseli(0, x) + mp.besseli(2, x)) / 2


def _i1_curve(x: Any) -> Any:
    return (3 * mp.besseli(1, x) + mp.besseli(3, x)) / 4


_bessel0 = j.chain(_i(0), _i(1), _i0_slope)
_bessel1 = j.chain(_i(1), _i0_slope, _i1_curve)


def _decaying(of: Any) -> Any:
    return lambda x: of(x) * j.exp(-absolute(x))


def _ndtr(x: Any) -> Any:
    return j.erfc(-x * mp.sqrt(mp.mpf(0.5))) / 2


def _quantile(p: Any) -> Any:
    """The inverse of the normal distribution function, by Newton's method on its logarithm."""
    if p > 0.5:
        return -_quantile(1 - p)
    z = mp.sqrt(-2 * mp.log(p))
    x = -z if p < 0.05 else mp.mpf(0)
    for _ in range(200):
        q = mp.erfc(-x / mp.sqrt(2)) / 2
        step = (mp.log(q) - mp.log(p)) * q * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x -= step
        if abs(step) < mp.mpf(2) ** (-mp.mp.prec // 2):
            break
    return x


def _dawson(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


dawson = j.chain(
    _dawson,
    lambda x: 1 - 2 * x * _dawson(x),
    lambda x: -2 * _dawson(x) - 2 * x * (1 - 2 * x * _dawson(x)),
)
spence = j.chain(
    lambda x: mp.mpf(0),  # the value is not looked at
    lambda x: mp.log(x) / (1 - x) if x != 1 else mp.mpf(-1),
    lambda x: (1 / x * (1 - x) + mp.log(x)) / (1 - x) ** 2 if x != 1 else mp.mpf(0.5),
)
expi = j.chain(mp.ei, lambda x: mp.exp(x) / x, lambda x: mp.exp(x) * (x - 1) / x**2)
exp1 = j.chain(mp.e1, lambda x: -mp.exp(-x) / x, lambda x: mp.exp(-x) * (x + 1) / x**2)
gamma = j.chain(
    mp.gamma,
    lambda x: mp.gamma(x) * mp.psi(0, x),
    lambda x: mp.gamma(x) * (mp.psi(0, x) ** 2 + mp.psi(1, x)),
)

SPECIAL: dict[str, Case] = {
    "lax.erf_inv(x)": Case(j.inverse(mp.erfinv, j.erf), UNIT, (-1.0, 0.0, 1.0), bits=300),
    "lax.lgamma(x)": Case(j.chain(_lgamma, _psi[0], _psi[1]), (-10.0, inf),
                       _digamma_poles, ((1.2, 1.8), (-3.9, -0.3)), 300),
    "lax.digamma(x)": Case(j.chain(_psi[0], _psi[1], _psi[2]), (-10.0, inf),
                        _digamma_poles, (), 300),
    "lax.bessel_i0e(x)": Case(_decaying(_bessel0), (1e-30, 1e4), bits=400),
    "lax.bessel_i1e(x)": Case(
        _decaying(_bessel1), (1e-30, 1e4), (0.0,), ((1.4, 1.7), (2.3, 3.0)), 400),
    "numpy.i0(x)": Case(_bessel0, (-800.0, 800.0), bits=400),
    "special.i0(x)": Case(_bessel0, (-800.0, 800.0), bits=400),
    "special.i1(x)": Case(_bessel1, (-800.0, 800.0), bits=400),
    "special.i0e(x)": Case(_decaying(_bessel0), (1e-30, 1e4), bits=400),
    "special.i1e(x)": Case(
        _decaying(_bessel1), (1e-30, 1e4), (0.0,), ((1.4, 1.7), (2.3, 3.0)), 400),
    "special.erf(x)": Case(j.erf),
    "special.erfc(x)": Case(j.erfc),
    "special.erfcx(x)": Case(lambda x: j.exp(x * x) * j.erfc(x), (-25.0, 1e30), bits=600),
    "special.erfinv(x)": Case(j.inverse(mp.erfinv, j.erf), UNIT, (-1.0, 0.0, 1.0), bits=300),
    "special.ndtr(x)": Case(_ndtr),
    "special.log_ndtr(x)": Case(lambda x: j.log(_ndtr(x)), (-1e4, 1e4), bits=1200),
    "special.ndtri(x)": Case(j.inverse(_quantile, _ndtr), (0.0, 1.0), (0.0, 0.5, 1.0), bits=300),
    "special.expit(x)": Case(j.logistic),
    "special.logit(x)": Case(lambda x: j.log(x / (1 - x)), (0.0, 1.0), (0.0, 1.0), ((0.4, 0.6),)),
    "special.entr(x)": Case(lambda x: -x * j.log(x), POSITIVE, (0.0, 1.0), ((0.32, 0.42),)),
    "special.gamma(x)": Case(gamma, (0.0, 200.0), (0.0, 1.0), ((1.3, 1.6),), 400),
    "special.gammaln(x)": Case(j.chain(_lgamma, _psi[0], _psi[1]), (0.0, inf), (0.0, 1.0),
                            ((1.3, 1.6),), 300),
    "special.digamma(x)": Case(j.chain(_psi[0], _psi[1], _psi[2]), (-10.0, inf),
                            _digamma_poles, (), 300),
    "special.polygamma(1, x)": Case(j.chain(_psi[1], _psi[2], _psi[3]), POSITIVE, bits=300),
    "special.zeta(3.0, x)": Case(j.chain(lambda x: -mp.psi(2, x) / 2, lambda x: -mp.psi(3, x) / 2,
                                       lambda x: -mp.psi(4, x) / 2), POSITIVE, bits=300),
    "special.dawsn(x)": Case(
        dawson, (-20.0, 20.0), (0.0,), mirrored((0.8, 1.1), (1.3, 1.8)), 3000),
    "special.spence(x)": Case(spence, (0.0, 1e30), (0.0, 1.0), bits=400),
    "special.expi(x)": Case(expi, (-800.0, 800.0), (0.0,), ((0.9, 1.1),), 300),
    "special.exp1(x)": Case(exp1, (0.0, 800.0), (0.0,), ((-1.1, -0.9),), 300),
    "special.xlogy(3.0, x)": Case(lambda x: 3 * j.log(x), POSITIVE, (1.0,)),
    "special.xlog1py(3.0, x)": Case(lambda x: 3 * j.log(1 + x), (-1.0, inf), (-1.0, 0.0)),
    "special.rel_entr(x, of(2))": Case(lambda x: x * j.log(x / 2), POSITIVE, (2.0,), ((0.6, 0.9),)),
    "special.kl_div(x, of(2))": Case(lambda x: x * j.log(x / 2) - x + 2, POSITIVE, (2.0,)),
    "special.kl_div(2.0, x)": Case(lambda x: 2 * j.log(2 / x) - 2 + x, POSITIVE, (2.0,)),
    "special.boxcox(x, of(0.5))": Case(lambda x: 2 * (j.sqrt(x) - 1), POSITIVE, (1.0,)),
    "special.gammainc(2.5, x)": Case(j.chain(
        lambda x: mp.mpf(0),
        lambda x: x**1.5 * mp.exp(-x) / mp.gamma(2.5),
        lambda x: (1.5 * x**0.5 - x**1.5) * mp.exp(-x) / mp.gamma(2.5)),
        (1e-3, inf), (0.0,), ((1.2, 1.8),), 300),
}  # fmt: skip
