"""The regularised incomplete beta function, by its continued fraction.

    I_x(a, b) = x^a (1-x)^b / (a B(a, b)) / (1 + K(d_n / 1)),
    d_2m = m (b - m) x / ((a + 2m - 1)(a + 2m)),
    d_2m+1 = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)),

which converges quickly where x < (a + 1)/(a + b + 2); elsewhere I_x(a, b) = 1 - I_1-x(b, a).
"""

from __future__ import annotations

from math import pi
from typing import Any

from ..functions.arithmetic import abs, add, div, mul, neg, sqrt, sub
from ..functions.control_flow.loops import while_loop
from ..functions.discrete import bitwise_and, eq, ge, gt, le, lt
from ..functions.transcendental import exp
from ..functions.values import select
from .precision import any_true, epsilon, filled, in_single
from .stirling import log1pmx, stirling_rest

LIMIT = 1000.0
"""Steps (of two terms) after which the fraction is left, converged or not."""


def _away_from_zero(x: Any) -> Any:
    return select(lt(abs(x), 1e-30), filled(x, 1e-30), x)


def _fraction(a: Any, b: Any, x: Any) -> Any:
    """``1 / (1 + K(d_n / 1))``, by Lentz's method."""
    eps, one = epsilon(x.dtype), filled(x, 1.0)
    d0 = div(1.0, _away_from_zero(sub(1.0, div(mul(add(a, b), x), add(a, 1.0)))))

    def going(state: Any) -> Any:
        return bitwise_and(lt(state[0], LIMIT), any_true(state[-1]))

    def term(numerator: Any, c: Any, d: Any) -> tuple[Any, Any]:
        d = div(1.0, _away_from_zero(add(mul(numerator, d), 1.0)))
        return _away_from_zero(add(div(numerator, c), 1.0)), d

    def step(state: Any) -> Any:
        m, c, d, h, active = state
        am = add(a, add(m, m))
        even = div(mul(mul(m, sub(b, m)), x), mul(sub(am, 1.0), am))
        c, d = term(even, c, d)
        first = mul(c, d)
        odd = div(mul(mul(add(a, m), add(add(a, b), m)), x), mul(am, add(am, 1.0)))
        c, d = term(neg(odd), c, d)
        factor = mul(c, d)
        # What has converged stays: the roundings of further factors would add up.
        h = select(active, mul(h, mul(first, factor)), h)
        unfinished = gt(abs(sub(factor, 1.0)), eps)
        return add(m, 1.0), c, d, h, bitwise_and(active, unfinished)

    state = (x.dtype.type(1), one, d0, d0, eq(one, 1.0))
    return while_loop(going, step, state)[3]


def _scale(a: Any, b: Any, x: Any) -> Any:
    """x^a (1-x)^b / B(a, b), by what it is at its maximum, next to which large terms cancel."""
    total, y = add(a, b), sub(1.0, x)
    away = sub(mul(x, b), mul(y, a))
    exponent = add(_log_power(a, away, x, total), _log_power(b, neg(away), y, total))
    rest = sub(sub(stirling_rest(total), stirling_rest(a)), stirling_rest(b))
    return mul(exp(add(exponent, rest)), sqrt(mul(mul(a, div(b, total)), 0.5 / pi)))


def _log_power(a: Any, away: Any, x: Any, total: Any) -> Any:
    """``a log(1 + away/a) - away``, where ``a + away`` is ``x total``."""
    return mul(a, log1pmx(div(away, a), mul(x, div(total, a))))


@in_single
def density(a: Any, b: Any, x: Any) -> Any:
    """The derivative of the function in ``x``, and its limits at the ends."""
    one, zero = filled(x, 1.0), filled(x, 0.0)
    inside = bitwise_and(gt(x, 0.0), lt(x, 1.0))
    at_end, other = select(lt(x, 0.5), a, b), select(lt(x, 0.5), b, a)
    limit = select(lt(at_end, 1.0), filled(x, float("inf")), select(eq(at_end, 1.0), other, zero))
    limit = select(bitwise_and(ge(x, 0.0), le(x, 1.0)), limit, filled(x, float("nan")))
    safe = select(inside, x, filled(x, 0.5))
    value = div(_scale(a, b, safe), mul(safe, sub(one, safe)))
    return select(inside, value, limit)


@in_single
def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function; NaN outside of a > 0, b > 0, 0 <= x <= 1."""
    one, half = filled(x, 1.0), filled(x, 0.5)
    valid = bitwise_and(bitwise_and(gt(a, 0.0), gt(b, 0.0)), bitwise_and(ge(x, 0.0), le(x, 1.0)))
    inside = bitwise_and(valid, bitwise_and(gt(x, 0.0), lt(x, 1.0)))
    sa, sb, sx = select(inside, a, one), select(inside, b, one), select(inside, x, half)
    mirrored = ge(sx, div(add(sa, 1.0), add(add(sa, sb), 2.0)))
    scale = _scale(sa, sb, sx)
    p, q = select(mirrored, sb, sa), select(mirrored, sa, sb)
    tail = div(mul(scale, _fraction(p, q, select(mirrored, sub(1.0, sx), sx))), p)
    value = select(mirrored, sub(1.0, tail), tail)
    ends = select(lt(x, 0.5), filled(x, 0.0), one)
    return select(valid, select(inside, value, ends), filled(x, float("nan")))
