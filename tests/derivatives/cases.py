"""Elementwise functions of one variable, as expressions, and their exact values.

In expressions ``numpy``, ``lax``, ``nn`` and ``special`` are modules of the package under test, and
``of(c)`` is a constant of the type of ``x``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import mpmath as mp

from . import jets as j
from .modes import derivatives, function
from .points import points


@dataclass(frozen=True)
class Case:
    """What a function is exactly, and where it is looked at.

    Attributes:
        exact: the function of jets.
        domain: where it has derivatives.
        near: points next to which it is looked at closely.
        left_out: closed intervals around zeros of a derivative, where its terms cancel whatever the
            formula: the error there is small beside the terms, not beside the result.
        bits: the precision in which ``exact`` is right over the whole range.
    """

    exact: Callable[[j.Jet], j.Jet]
    domain: tuple[float, float] = (-inf, inf)
    near: tuple[float, ...] = (0.0,)
    left_out: tuple[tuple[float, float], ...] = ()
    bits: int = 3000
    most: ClassVar[float] = 16.0
    """Roundings that a derivative may be off by."""

    def places(self, dtype: Any, n: int) -> Any:
        """The points of the case, of a type."""
        x = points(dtype, n, self.domain, self.near)
        for low, high in self.left_out:
            x = x[(x < low) | (x > high)]
        return x

    def exact_at(self, x: Any) -> list[tuple[Any, Any]]:
        """The first and second derivative at each point; NaN where there is none."""
        result = []
        for v in x:
            with mp.workprec(self.bits):
                try:
                    out = self.exact(j.Jet(mp.mpf(float(v)), mp.mpf(1)))
                    result.append((out.first, out.second))
                except (ZeroDivisionError, ValueError, OverflowError, mp.libmp.NoConvergence):
                    result.append((mp.nan, mp.nan))
        return result

    def ways(self, root: Any, expression: str) -> list[Callable[[Any], Any]]:
        """The derivatives of each mode as functions of the points."""
        return derivatives(root, function(root, expression))


POSITIVE = (0.0, inf)
UNIT = (-1.0, 1.0)


def _of(value: Any, below: Any) -> Any:
    """A function in two pieces: for positive numbers and for others."""
    return lambda x: value(x) if x.value > 0 else below(x)


def absolute(x: Any) -> Any:
    """The absolute value."""
    return x if x.value >= 0 else -x


def _sinc(x: Any) -> Any:
    if x.value == 0:
        return j.Jet(mp.mpf(1), mp.mpf(0), -(mp.pi**2) / 3)
    return j.sin(mp.pi * x) / (mp.pi * x)


def mirrored(*intervals: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    """Intervals, and those of the negative numbers."""
    return (*intervals, *((-b, -a) for a, b in intervals))


def _expm1(x: Any) -> Any:
    return j.exp(x) - 1


def _gelu_tanh(x: Any) -> Any:
    slope = mp.sqrt(2 / mp.pi) * (1 + mp.mpf("0.044715") * x * x)
    return x * j.logistic(2 * x * slope)


_ALPHA, _SCALE = (
    mp.mpf("1.6732632423543772848170429916717"),
    mp.mpf("1.0507009873554804934193352946"),
)

ELEMENTARY: dict[str, Case] = {
    "numpy.exp(x)": Case(j.exp),
    "numpy.exp2(x)": Case(lambda x: j.exp(x * mp.log(2))),
    "numpy.expm1(x)": Case(_expm1),
    "numpy.log(x)": Case(j.log, POSITIVE, (1.0,)),
    "numpy.log2(x)": Case(lambda x: j.log(x) / mp.log(2), POSITIVE, (1.0,)),
    "numpy.log10(x)": Case(lambda x: j.log(x) / mp.log(10), POSITIVE, (1.0,)),
    "numpy.log1p(x)": Case(lambda x: j.log(1 + x), (-1.0, inf), (-1.0, 0.0)),
    "numpy.sqrt(x)": Case(j.sqrt, POSITIVE),
    "numpy.cbrt(x)": Case(j.cbrt),
    "lax.rsqrt(x)": Case(j.power(-0.5), POSITIVE),
    "numpy.square(x)": Case(j.square),
    "numpy.reciprocal(x)": Case(j.reciprocal),
    "lax.integer_pow(x, 3)": Case(j.power(3)),
    "lax.integer_pow(x, -3)": Case(j.power(-3)),
    "numpy.power(x, 2.5)": Case(j.power(2.5), POSITIVE),
    "numpy.power(x, -0.5)": Case(j.power(-0.5), POSITIVE),
    "numpy.power(of(0.25), x)": Case(lambda x: j.exp(x * mp.log(mp.mpf(0.25)))),
    "numpy.sin(x)": Case(j.sin),
    "numpy.cos(x)": Case(j.cos),
    "numpy.tan(x)": Case(lambda x: j.sin(x) / j.cos(x)),
    "numpy.arcsin(x)": Case(j.asin, UNIT, (-1.0, 0.0, 1.0)),
    "numpy.arccos(x)": Case(lambda x: -j.asin(x), UNIT, (-1.0, 0.0, 1.0)),
    "numpy.arctan(x)": Case(j.atan),
    "numpy.sinh(x)": Case(j.sinh),
    "numpy.cosh(x)": Case(j.cosh),
    "numpy.tanh(x)": Case(j.tanh),
    "numpy.arcsinh(x)": Case(j.asinh),
    "numpy.arccosh(x)": Case(j.acosh, (1.0, inf), (1.0,)),
    "numpy.arctanh(x)": Case(j.atanh, UNIT, (-1.0, 0.0, 1.0)),
    "numpy.arctan2(x, 1.0)": Case(j.atan),
    "numpy.arctan2(of(1), x)": Case(lambda x: -j.atan(x)),
    "numpy.hypot(x, 1.0)": Case(lambda x: j.sqrt(1 + x * x)),
    "numpy.logaddexp(x, 0.0)": Case(j.softplus),
    "numpy.logaddexp2(x, 0.0)": Case(lambda x: j.softplus(x * mp.log(2)) / mp.log(2)),
    "numpy.sinc(x)": Case(
        _sinc, (-2.0, 2.0), left_out=mirrored((0.55, 0.8), (1.35, 1.5), (1.8, 2.0))),
    "lax.logistic(x)": Case(j.logistic),
    "lax.erf(x)": Case(j.erf),
    "lax.erfc(x)": Case(j.erfc),
}  # fmt: skip

ACTIVATIONS: dict[str, Case] = {
    "nn.sigmoid(x)": Case(j.logistic),
    "nn.log_sigmoid(x)": Case(lambda x: -j.softplus(-x)),
    "nn.softplus(x)": Case(j.softplus),
    "nn.silu(x)": Case(
        lambda x: x * j.logistic(x), left_out=((-1.5, -1.1), *mirrored((2.1, 2.8)))),
    "nn.mish(x)": Case(lambda x: x * j.tanh(j.softplus(x)),
                    left_out=((-1.4, -1.0), (-2.6, -1.9), (1.2, 1.8))),
    "nn.gelu(x)": Case(_gelu_tanh, left_out=((-0.9, -0.6), *mirrored((1.2, 1.8)))),
    "nn.gelu(x, False)": Case(lambda x: x * j.erfc(-x * mp.sqrt(mp.mpf(0.5))) / 2,
        left_out=((-0.9, -0.6), *mirrored((1.2, 1.8)))),
    "nn.squareplus(x)": Case(lambda x: (x + j.sqrt(x * x + 4)) / 2),
    "nn.log1mexp(x)": Case(lambda x: j.log(1 - j.exp(-x)), POSITIVE),
    "nn.elu(x)": Case(_of(lambda x: x, _expm1)),
    "nn.selu(x)": Case(_of(lambda x: x * _SCALE, lambda x: _expm1(x) * _SCALE * _ALPHA)),
    "nn.celu(x, 2.0)": Case(_of(lambda x: x, lambda x: 2 * _expm1(x / 2)), left_out=((0.0, 0.0),)),
    "nn.soft_sign(x)": Case(lambda x: x / (1 + absolute(x))),
}  # fmt: skip
