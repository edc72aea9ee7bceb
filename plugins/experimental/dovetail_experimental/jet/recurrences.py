"""Recurrences of elementary functions: what makes them quadratic in the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from math import log
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive, algebra, lift_call, typeof

from .derived import Args, varying_operands
from .series import Series, SeriesCarrier, scaled, series_rules

Known = Sequence[Any]
"""The coefficients of a series that are known so far."""


def integral(primitive: Primitive, rate: Callable[[Series, Known, Known, Known], Any]) -> None:
    """The rule of a function z of x with z' = w x', where w follows from x and z.

    ``rate(x, dx, z, w)`` is the next coefficient of w, from those of x, x' and z up to the same
    power and those of w before it. So each coefficient of z follows from those before it.
    """

    def rule(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Series:
        (x,) = args
        dx = [scaled(c, k) for k, c in enumerate(x) if k]
        z, w = [primitive.bind(x[0], **params)], list[Any]()
        for k in range(carrier.order):
            w.append(rate(x, dx, z, w))
            z.append(scaled(product(dx, w, k), 1 / (k + 1)))
        return tuple(z)

    series_rules.set(primitive, rule)


def product(a: Known, b: Known, k: int) -> Any:
    """The coefficient ``k`` of a product of series."""
    pairs = [(a[j], b[k - j]) for j in range(min(k + 1, len(a))) if k - j < len(b)]
    return reduce(algebra().add, [lax.mul_p.bind(x, y) for x, y in pairs])


def quotient(top: Any, x: Known, q: Known) -> Any:
    """The next coefficient of q, where q x is a series whose coefficient is ``top`` (None: 0)."""
    k = len(q)
    if k:
        known = product(x[1:], q, k - 1)
        top = lax.neg_p.bind(known) if top is None else lax.sub_p.bind(top, known)
    return lax.div_p.bind(top, x[0])


def number(value: float, like: Any) -> Any:
    """A scalar of the element type of an array."""
    aval: Any = typeof(like)
    return algebra().full(aval.update(shape=()), value)


def plus(value: float, x: Any, k: int = 0) -> Any:
    """The coefficient ``k`` of a series that a number is added to."""
    return x if k else lax.add_p.bind(x, number(value, x))


def turning(other: Primitive, start: int, sign: int) -> Callable[..., Any]:
    """Of z' = w x' and w' = ``sign`` z x', where w is ``start`` times another primitive."""

    def rate(x: Series, dx: Known, z: Known, w: Known) -> Any:
        k = len(w)
        if not k:
            return scaled(other.bind(x[0]), start)
        return scaled(product(dx, z, k - 1), sign / k)

    return rate


def first(slope: Primitive, others: Callable[..., Any]) -> Callable[..., Any]:
    """Of a derivative that is not 1 less the square of what is almost 1, but has a primitive."""
    return lambda x, dx, z, w: others(x, dx, z, w) if w else slope.bind(x[0])


def of_slope(primitive: Primitive, slope: Primitive, sign: float = 1) -> None:
    """The rule of a function z of x with z' = w x', where w is ``sign`` times another primitive."""

    def rule(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Series:
        (x,) = args
        dx = [scaled(c, k) for k, c in enumerate(x) if k]
        w = lift_call(SeriesCarrier(carrier.order - 1), slope.bind, [x[: carrier.order]])
        rest = [scaled(product(dx, w, k), sign / (k + 1)) for k in range(carrier.order)]
        return (primitive.bind(x[0], **params), *rest)

    series_rules.set(primitive, rule)


def curvature(
    primitive: Primitive, factor: float, n: int, of: Callable[[Any], Any] | None = None,
    rate: float = 1.0,
) -> None:  # fmt: skip
    """The rule of a function z of x with z' = ``factor`` y z^``n`` x', where y is x.

    Or y is another function ``of(x)``, with y' = ``rate`` z x'.
    """

    def rule(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Series:
        (x,) = args
        dx = [scaled(c, k) for k, c in enumerate(x) if k]
        z = [primitive.bind(x[0], **params)]
        y = list(x) if of is None else [of(x[0])]
        powers: list[list[Any]] = [[] for _ in range(n)]  # y z, y z², ...
        for k in range(carrier.order):
            for lower, higher in pairwise([y, *powers]):
                higher.append(product(lower, z, k))
            if of is not None:
                y.append(scaled(product(dx, z, k), rate / (k + 1)))
            z.append(scaled(product(dx, powers[-1], k), factor / (k + 1)))
        return tuple(z)

    series_rules.set(primitive, rule)


def power(exponent: float) -> Callable[..., Any]:
    """Of z = x to a constant power, because x z' = exponent z x'."""
    return lambda x, dx, z, w: quotient(scaled(z[-1], exponent), x, w)


def _shifted(x: Series) -> Series:
    return (plus(1, x[0]), *x[1:])


def _one(x: Series, k: int) -> Any:
    return None if k else number(1, x[0])


integral(lax.exp_p, lambda x, dx, z, w: z[-1])
integral(lax.exp2_p, lambda x, dx, z, w: scaled(z[-1], log(2)))
integral(lax.expm1_p, lambda x, dx, z, w: plus(1, z[-1], len(w)))
integral(lax.log_p, lambda x, dx, z, w: quotient(_one(x, len(w)), x, w))
integral(lax.log1p_p, lambda x, dx, z, w: quotient(_one(x, len(w)), _shifted(x), w))
integral(lax.sin_p, turning(lax.cos_p, 1, -1))
integral(lax.cos_p, turning(lax.sin_p, -1, -1))
integral(lax.sinh_p, turning(lax.cosh_p, 1, 1))
integral(lax.cosh_p, turning(lax.sinh_p, 1, 1))
integral(lax.tan_p, lambda x, dx, z, w: plus(1, product(z, z, len(w)), len(w)))
integral(
    lax.tanh_p,
    first(lax.tanh_slope_p, lambda x, dx, z, w: lax.neg_p.bind(product(z, z, len(w)))),
)
integral(
    lax.logistic_p,
    first(lax.logistic_slope_p, lambda x, dx, z, w: lax.sub_p.bind(z[-1], product(z, z, len(w)))),
)
integral(lax.sqrt_p, power(1 / 2))
integral(lax.rsqrt_p, power(-1 / 2))
integral(lax.cbrt_p, power(1 / 3))


def _half_tanh(x: Any) -> Any:
    return lax.tanh_p.bind(scaled(x, 0.5))


curvature(lax.logistic_slope_p, -1, 1, _half_tanh, 2)
curvature(lax.tanh_slope_p, -2, 1, lax.tanh_p.bind)
curvature(lax.asin_slope_p, 1, 3)
curvature(lax.atan_slope_p, -2, 2)
curvature(lax.asinh_slope_p, -1, 3)
curvature(lax.acosh_slope_p, -1, 3)
curvature(lax.atanh_slope_p, 2, 2)
curvature(lax.erf_slope_p, -2, 1)
curvature(lax.normal_density_p, -1, 1)
curvature(lax.erf_inv_slope_p, 2, 2, lax.precise_erf_inv_p.bind)

of_slope(lax.asin_p, lax.asin_slope_p)
of_slope(lax.acos_p, lax.asin_slope_p, -1)
of_slope(lax.atan_p, lax.atan_slope_p)
of_slope(lax.asinh_p, lax.asinh_slope_p)
of_slope(lax.acosh_p, lax.acosh_slope_p)
of_slope(lax.atanh_p, lax.atanh_slope_p)
of_slope(lax.erf_p, lax.erf_slope_p)
of_slope(lax.erfc_p, lax.erf_slope_p, -1)
of_slope(lax.erf_inv_p, lax.erf_inv_slope_p)
of_slope(lax.precise_erf_inv_p, lax.erf_inv_slope_p)


@series_rules.register(lax.div_p)
def _div(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Any:
    if 1 not in varying_operands(args):
        return NotImplemented  # linear
    x, y = args
    z = [lax.div_p.bind(x[0], y[0], **params)]
    while len(z) <= carrier.order:
        z.append(quotient(x[len(z)] if len(z) < len(x) else None, y, z))
    return tuple(z)


@series_rules.register(lax.square_p)
def _square(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Series:
    return lift_call(carrier, lambda x: lax.mul_p.bind(x, x), args)


@series_rules.register(lax.integer_pow_p)
def _integer_pow(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Any:
    # By repeated squaring: a recurrence would divide by x, which may be zero.
    def f(x: Any) -> Any:
        n, out = abs(params["y"]), None
        while n:
            if n & 1:
                out = x if out is None else lax.mul_p.bind(out, x)
            n >>= 1
            x = lax.mul_p.bind(x, x) if n else x
        if out is None:
            return lax.integer_pow_p.bind(args[0][0], **params)  # 1
        return out if params["y"] > 0 else lax.div_p.bind(number(1, out), out)

    return lift_call(carrier, f, args)
