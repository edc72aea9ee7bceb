"""``log |Γ(x)|``, to few roundings also where it is 0, in 1 and 2.

With u = z - round(z) in [-1/2, 1/2], log Γ(2 + u) is u times a power series (DLMF 5.7.3): it loses
nothing at its zero, u = 0. For z in [1/2, 3/2] the logarithm of 1 + u is taken off, as it is. Other
z up to 10 are brought there by Γ(z + 1) = z Γ(z), larger ones have Stirling's formula, and negative
ones the reflection Γ(-z) Γ(z) = -π / (z sin πz): next to zeros at negative numbers the error is
small in comparison with 1, but not with the result.
"""

from __future__ import annotations

from math import fsum, log, pi
from typing import Any

from dovetail_base.caches import cached

from ..functions.arithmetic import abs as size_of, add, div, mul, neg, sub
from ..functions.discrete import eq, floor, ge, lt, ne, round
from ..functions.transcendental import log as log_of, sin
from ..functions.values import clamp, select
from .precision import epsilon, filled, in_single

_EULER = 0.5772156649015329
_TERMS = 30
LARGE = 10.0
_STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400
)  # fmt: skip


@cached
def _coefficients(precision: float) -> tuple[float, ...]:
    """Those of log Γ(2 + u) / u in powers of u, as many as count for |u| at most 1/2."""
    every = [1 - _EULER, *((-1) ** k * _zeta_less_1(k) / k for k in range(2, _TERMS + 1))]
    used = [k for k, c in enumerate(every) if abs(c) * 0.5**k > 0.05 * precision]
    return tuple(every[: used[-1] + 1])


def _zeta_less_1(k: int) -> float:
    """ζ(k) - 1: the terms up to 60, and the rest by the formula of Euler and Maclaurin."""
    n = 60.0
    rest = [n ** (1 - k) / (k - 1), n**-k / 2, k * n ** (-k - 1) / 12]
    rest += [-k * (k + 1) * (k + 2) * n ** (-k - 3) / 720]
    rest += [k * (k + 1) * (k + 2) * (k + 3) * (k + 4) * n ** (-k - 5) / 30240]
    return fsum([float(j) ** -k for j in range(2, 60)] + rest)


def _about_2(u: Any) -> Any:
    """log Γ(2 + u) for u in [-1/2, 1/2]."""
    *first, last = _coefficients(epsilon(u.dtype))
    series = filled(u, last)
    for c in reversed(first):
        series = add(mul(series, u), c)
    return mul(u, series)


def _up_to(z: Any) -> Any:
    """log |Γ(z)| for z from -1/2 to ``LARGE``."""
    z = clamp(filled(z, -0.5), z, filled(z, LARGE))
    n = sub(floor(add(z, 0.5)), 2.0)
    u, one = sub(z, add(n, 2.0)), filled(z, 1.0)
    above = one
    for k in range(1, int(LARGE) - 1):
        above = mul(above, select(ge(n, float(k)), sub(z, float(k)), one))
    below = select(eq(n, -2.0), mul(z, add(z, 1.0)), one)
    moved = log_of(size_of(div(above, below)))
    return add(_about_2(u), select(eq(n, -1.0), neg(log_of(z)), moved))


def _from(z: Any) -> Any:
    """log Γ(z) for z from ``LARGE`` on, by Stirling's formula."""
    z = select(ge(z, LARGE), z, filled(z, LARGE))
    main = mul(sub(z, 0.5), sub(log_of(z), 1.0))
    return add(main, add(stirling_series(z), 0.5 * log(2 * pi) - 0.5))


def stirling_series(x: Any) -> Any:
    """``log Γ(x) - (x - 1/2) log(x) + x - log(2π)/2`` for x of at least ``LARGE``."""
    inverse = div(1.0, x)
    square, series = mul(inverse, inverse), filled(x, _STIRLING[-1])
    for term in reversed(_STIRLING[:-1]):
        series = add(mul(series, square), term)
    return mul(series, inverse)


@in_single
def log_gamma(x: Any) -> Any:
    """The logarithm of the gamma function's absolute value; infinite at its poles."""
    negative = lt(x, -0.5)
    z = select(negative, neg(x), x)
    value = select(ge(z, LARGE), _from(z), _up_to(z))
    sine = size_of(mul(z, sin(mul(sub(z, round(z)), pi))))
    value = select(negative, sub(sub(log(pi), log_of(sine)), value), value)
    infinite = eq(size_of(x), float("inf"))
    value = select(infinite, filled(x, float("inf")), value)
    return select(ne(x, x), x, value)
