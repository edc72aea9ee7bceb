"""Numbers with two derivatives, in as many digits as asked for: exact values of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

Number = Any


class Jet:
    """A value with its first and second derivative in the one variable."""

    __slots__ = ("first", "second", "value")

    def __init__(self, value: Number, first: Number = 0, second: Number = 0) -> None:
        self.value, self.first, self.second = value, first, second

    def __add__(self, other: Any) -> Jet:
        o = jet(other)
        return Jet(self.value + o.value, self.first + o.first, self.second + o.second)

    def __mul__(self, other: Any) -> Jet:
        o = jet(other)
        second = self.second * o.value + 2 * self.first * o.first + self.value * o.second
        return Jet(self.value * o.value, self.first * o.value + self.value * o.first, second)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.first, -self.second)

    def __sub__(self, other: Any) -> Jet:
        return self + -jet(other)

    def __rsub__(self, other: Any) -> Jet:
        return -self + other

    def __truediv__(self, other: Any) -> Jet:
        return self * reciprocal(jet(other))

    def __rtruediv__(self, other: Any) -> Jet:
        return reciprocal(self) * other


def jet(x: Any) -> Jet:
    """``x`` itself, or a constant."""
    return x if isinstance(x, Jet) else Jet(mp.mpf(x))


def chain(*derivatives: Callable[[Number], Number]) -> Callable[[Any], Jet]:
    """A function of jets, from that of numbers and its first two derivatives."""

    def apply(x: Any) -> Jet:
        x = jet(x)
        f, d, e = (derivative(x.value) for derivative in derivatives)
        return Jet(f, d * x.first, e * x.first**2 + d * x.second)

    return apply


def power(exponent: Number) -> Callable[[Any], Jet]:
    """``x**exponent`` for a constant exponent."""
    p = mp.mpf(exponent)
    return chain(lambda x: x**p, lambda x: p * x ** (p - 1), lambda x: p * (p - 1) * x ** (p - 2))


reciprocal = power(-1)
sqrt = power(0.5)
square = power(2)
exp = chain(mp.exp, mp.exp, mp.exp)
log = chain(mp.log, lambda x: 1 / x, lambda x: -1 / x**2)
sin = chain(mp.sin, mp.cos, lambda x: -mp.sin(x))
cos = chain(mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x))
atan = chain(mp.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2)
asin = chain(mp.asin, lambda x: (1 - x * x) ** -0.5, lambda x: x * (1 - x * x) ** -1.5)
asinh = chain(mp.asinh, lambda x: (1 + x * x) ** -0.5, lambda x: -x * (1 + x * x) ** -1.5)
acosh = chain(mp.acosh, lambda x: (x * x - 1) ** -0.5, lambda x: -x * (x * x - 1) ** -1.5)
atanh = chain(mp.atanh, lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2)


def _cbrt(x: Number) -> Number:
    return mp.sign(x) * mp.cbrt(abs(x))


cbrt = chain(_cbrt, lambda x: _cbrt(x) / x / 3, lambda x: -2 * _cbrt(x) / x**2 / 9)


def logistic(x: Any) -> Jet:
    """``1 / (1 + exp(-x))``."""
    return 1 / (1 + exp(-jet(x)))


def tanh(x: Any) -> Jet:
    """The hyperbolic tangent."""
    return 1 - 2 / (exp(2 * jet(x)) + 1)


def sinh(x: Any) -> Jet:
    """The hyperbolic sine."""
    return (exp(x) - exp(-jet(x))) / 2


def cosh(x: Any) -> Jet:
    """The hyperbolic cosine."""
    return (exp(x) + exp(-jet(x))) / 2


def softplus(x: Any) -> Jet:
    """``log(1 + exp(x))``."""
    return log(1 + exp(x))


def _gauss(x: Number) -> Number:
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


erf = chain(mp.erf, _gauss, lambda x: -2 * x * _gauss(x))
erfc = chain(mp.erfc, lambda x: -_gauss(x), lambda x: 2 * x * _gauss(x))


def inverse(value: Callable[[Number], Number], of: Callable[[Any], Jet]) -> Callable[[Any], Jet]:
    """A function of jets, from its value and the function that it inverts."""

    def apply(x: Any) -> Jet:
        x = jet(x)
        y = value(x.value)
        there = of(Jet(y, mp.mpf(1)))
        d = 1 / there.first
        e = -there.second * d**3
        return Jet(y, d * x.first, e * x.first**2 + d * x.second)

    return apply
