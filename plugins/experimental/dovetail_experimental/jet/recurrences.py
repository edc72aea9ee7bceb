"""Recurrences of elementary functions: what makes them quadratic in the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import log
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive, algebra, lift_call, typeof

from .derived import Args, moving
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
    lambda x, dx, z, w: plus(1, lax.neg_p.bind(product(z, z, len(w))), len(w)),
)
integral(lax.logistic_p, lambda x, dx, z, w: lax.sub_p.bind(z[-1], product(z, z, len(w))))
integral(lax.sqrt_p, power(1 / 2))
integral(lax.rsqrt_p, power(-1 / 2))
integral(lax.cbrt_p, power(1 / 3))


@series_rules.register(lax.div_p)
def _div(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Any:
    if 1 not in moving(args):
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
