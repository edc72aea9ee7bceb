"""The incomplete gamma functions, and their derivatives in the order, by series and fractions.

With D = x^(a-1) e^-x / Γ(a), the density of the gamma distribution, its lower and upper tails are

    P = D x/a S,   S = Σ t_n,  t_n = Π_{k=1..n} x/(a + k),           used where x <= 1 or x <= a,
    Q = D x h,     h = 1/(x+1-a + K_{n>=1}(-n(n - a) / (x+1-a + 2n))),  used elsewhere.

Each loop carries the derivatives in ``a`` along with its terms. Elements that another method is for
are given a harmless argument.
"""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

from ..functions.arithmetic import abs, add, div, mul, neg, sqrt, sub
from ..functions.control_flow.loops import while_loop
from ..functions.discrete import bitwise_and, bitwise_not, bitwise_or, eq, ge, gt, lt
from ..functions.operands import unary
from ..functions.transcendental import exp, log
from ..functions.values import select
from ..primitives.special import digamma_p
from .precision import any_true, epsilon, filled, in_single
from .stirling import log1pmx, stirling_rest

LIMIT = 2000.0
"""Terms after which a loop stops, converged or not."""


def _series(a: Any, x: Any) -> tuple[Any, Any]:
    """``S`` and its derivative in ``a``."""
    eps, zero, one = epsilon(x.dtype), filled(x, 0.0), filled(x, 1.0)

    def going(state: Any) -> Any:
        return bitwise_and(lt(state[0], LIMIT), any_true(state[-1]))

    def step(state: Any) -> Any:
        n, r, t, dt, s, ds, _ = state
        r = add(r, 1.0)
        ratio = div(x, r)
        dt = mul(sub(dt, div(t, r)), ratio)
        t = mul(t, ratio)
        s, ds = add(s, t), add(ds, dt)
        unfinished = bitwise_or(gt(t, mul(s, eps)), gt(abs(dt), mul(abs(ds), eps)))
        return add(n, 1.0), r, t, dt, s, ds, unfinished

    state = (x.dtype.type(0), a, one, zero, one, zero, eq(one, 1.0))
    *_, s, ds, _ = while_loop(going, step, state)
    return s, ds


def _fraction(a: Any, x: Any) -> tuple[Any, Any]:
    """``h`` and its derivative in ``a``, by Lentz's method."""
    eps, one = epsilon(x.dtype), filled(x, 1.0)
    b0 = sub(add(x, 1.0), a)
    h0 = div(1.0, b0)
    dh0 = mul(h0, h0)

    def going(state: Any) -> Any:
        return bitwise_and(lt(state[0], LIMIT), any_true(state[-1]))

    def step(state: Any) -> Any:
        n, b, c, dc, d, dd, h, dh, active = state
        numerator = mul(neg(n), sub(n, a))  # its derivative is n, that of b is -1
        b = add(b, 2.0)
        below = add(mul(numerator, d), b)
        dbelow = sub(add(mul(n, d), mul(numerator, dd)), 1.0)
        d = div(1.0, below)
        dd = neg(mul(mul(d, d), dbelow))
        over = div(1.0, c)
        dc = sub(sub(mul(n, over), mul(mul(numerator, dc), mul(over, over))), 1.0)
        c = add(b, mul(numerator, over))
        factor, dfactor = mul(c, d), add(mul(dc, d), mul(c, dd))
        change = mul(h, dfactor)
        # What has converged stays: the roundings of further factors would add up.
        dh = select(active, add(mul(dh, factor), change), dh)
        h = select(active, mul(h, factor), h)
        unfinished = bitwise_or(gt(abs(sub(factor, 1.0)), eps), gt(abs(change), mul(abs(dh), eps)))
        return add(n, 1.0), b, c, dc, d, dd, h, dh, bitwise_and(active, unfinished)

    first, zero = x.dtype.type(1), filled(x, 0.0)
    state = (first, b0, filled(x, 1e30), zero, h0, dh0, h0, dh0, eq(one, 1.0))
    *_, h, dh, _ = while_loop(going, step, state)
    return h, dh


def _scale(a: Any, x: Any) -> Any:
    """D x = x^a exp(-x)/Γ(a), by what it is at its maximum, next to which large terms cancel."""
    deviation = div(sub(x, a), a)
    exponent = sub(mul(a, log1pmx(deviation, div(x, a))), stirling_rest(a))
    return mul(exp(exponent), sqrt(mul(a, 0.5 / pi)))


class _Parts(NamedTuple):
    """``upper``: where the fraction is used; ``scale``: D x; the others are named above."""

    upper: Any
    scale: Any
    s: Any
    ds: Any
    h: Any
    dh: Any
    inside: Any


def _parts(a: Any, x: Any) -> _Parts:
    inside = bitwise_and(bitwise_and(gt(a, 0.0), ge(x, 0.0)), lt(x, float("inf")))
    inside = bitwise_and(inside, lt(a, float("inf")))
    upper = bitwise_and(gt(x, 1.0), gt(x, a))
    by_series = bitwise_and(inside, bitwise_not(upper))
    by_fraction = bitwise_and(inside, upper)
    one, two = filled(x, 1.0), filled(x, 2.0)
    s, ds = _series(select(by_series, a, two), select(by_series, x, one))
    h, dh = _fraction(select(by_fraction, a, one), select(by_fraction, x, two))
    scale = _scale(select(inside, a, one), select(bitwise_and(inside, gt(x, 0.0)), x, one))
    return _Parts(upper, scale, s, ds, h, dh, inside)


def _outside(a: Any, x: Any, at_zero: float, at_infinity: float, inside: Any, value: Any) -> Any:
    """``value`` inside the domain; its limits at x = 0, x = ∞, a = 0 and a = ∞; NaN elsewhere."""
    nan = filled(x, float("nan"))
    limit = select(eq(a, float("inf")), filled(x, at_zero), nan)
    limit = select(eq(x, 0.0), filled(x, at_zero), limit)
    at_end = bitwise_or(eq(x, float("inf")), eq(a, 0.0))
    limit = select(at_end, filled(x, at_infinity), limit)
    value = select(bitwise_and(inside, gt(x, 0.0)), value, limit)
    positive = bitwise_and(bitwise_and(ge(a, 0.0), ge(x, 0.0)), gt(add(a, x), 0.0))
    return select(positive, value, nan)


@in_single
def density(a: Any, x: Any) -> Any:
    """D, the derivative of P in ``x``, and its limits at x = 0."""
    one, inside = filled(x, 1.0), gt(x, 0.0)
    at_zero = select(lt(a, 1.0), filled(x, float("inf")), select(eq(a, 1.0), one, filled(x, 0.0)))
    limit = select(eq(x, 0.0), at_zero, filled(x, float("nan")))
    safe = select(inside, x, one)
    return select(inside, div(_scale(a, safe), safe), limit)


@in_single
def igamma(a: Any, x: Any) -> Any:
    """P, the regularised lower incomplete gamma function."""
    p = _parts(a, x)
    lower = div(mul(p.scale, p.s), a)
    value = select(p.upper, sub(1.0, mul(p.scale, p.h)), lower)
    return _outside(a, x, 0.0, 1.0, p.inside, value)


@in_single
def igammac(a: Any, x: Any) -> Any:
    """Q = 1 - P, the regularised upper incomplete gamma function."""
    p = _parts(a, x)
    lower = div(mul(p.scale, p.s), a)
    value = select(p.upper, mul(p.scale, p.h), sub(1.0, lower))
    return _outside(a, x, 1.0, 0.0, p.inside, value)


@in_single
def igamma_grad_a(a: Any, x: Any) -> Any:
    """The derivative of P in ``a``."""
    p = _parts(a, x)
    value = mul(neg(p.scale), _upper_slope(a, x, p))
    value = select(p.upper, value, mul(div(p.scale, a), _lower_slope(a, x, p)))
    return _outside(a, x, 0.0, 0.0, p.inside, value)


@in_single
def random_gamma_grad(a: Any, x: Any) -> Any:
    """The derivative in ``a`` of a sample ``x``: -(∂P/∂a) / D, as P(a, x(a)) stays what it is."""
    p = _parts(a, x)
    lower = mul(neg(div(x, a)), _lower_slope(a, x, p))
    value = select(p.upper, mul(x, _upper_slope(a, x, p)), lower)
    return _outside(a, x, 0.0, 0.0, p.inside, value)


def _lower_slope(a: Any, x: Any, p: _Parts) -> Any:
    """The derivative of P over D x/a."""
    return add(p.ds, mul(p.s, sub(log(x), unary(digamma_p, add(a, 1.0)))))


def _upper_slope(a: Any, x: Any, p: _Parts) -> Any:
    """The derivative of Q over D x."""
    return add(p.dh, mul(p.h, sub(log(x), unary(digamma_p, a))))
