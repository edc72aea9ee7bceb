"""Families of distributions: arguments, location and scale, support, validity of parameters.

A distribution is a module. It has a function that only names the arguments, and from it a family,
which makes the public functions from those of the standard distribution. These are functions of
``z``, the argument less ``loc`` and over ``scale``, which is inside of the support, and of the
parameters, all arrays of one shape and floating-point type::

    def expon(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
        \"\"\"the exponential distribution\"\"\"
        return Arguments(x, (), loc, scale)

    _expon = Continuous(expon, low=0.0)
    logpdf, pdf = _expon.densities(lambda z: -z)
    cdf = _expon.cdf(lambda z: -dnp.expm1(-z))

Outside of the support results are the limits, such as 0; for parameters of no distribution nan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from inspect import signature
from operator import or_
from typing import Any, Generic, NamedTuple, ParamSpec

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from ..arguments import Array
from ..special.evaluation import evaluate

P = ParamSpec("P")
Q = ParamSpec("Q")
Standard = Callable[..., Any]
Bound = float | Callable[..., Any]
"""An end of a support: a number, or a function of the parameters."""


class Arguments(NamedTuple):
    """Arguments of a public function, sorted."""

    x: Any
    shapes: tuple[Any, ...]
    loc: Any = 0
    scale: Any = 1


Signature = Callable[P, Arguments]
Body = Callable[[str, Arguments], Any]


def publish(
    of: Signature[P], kind: str, text: str, body: Body, what: str | None = None
) -> Callable[P, Array]:
    """A public function with the signature of ``of``, evaluated eagerly as one program."""
    distribution = of.__module__.rpartition(".")[2]
    name = f"{distribution}.{kind}"
    what = what or of.__doc__

    def function(*args: P.args, **kwargs: P.kwargs) -> Array:
        return body(name, of(*args, **kwargs))

    function.__name__ = function.__qualname__ = kind
    function.__module__ = of.__module__
    function.__doc__ = (
        f"{text} of {what}.\n\n"
        "Arguments broadcast; integers count as floating-point numbers. nan where there is no\n"
        "such distribution.\n\n"
        "Raises:\n    TypeError: an argument is no array and no number, or complex.\n"
        "    ValueError: shapes do not broadcast."
    )
    shown = signature(of).replace(return_annotation="Array")
    setattr(function, "__signature__", shown)  # noqa: B010  # which pyright does not know
    return fused()(function)


class _Family(Generic[P]):
    """The distributions of some arguments.

    Args:
        arguments: names the arguments; its documentation ends sentences, as "the t distribution".
        low, high: the ends of the support of the standard distribution.
        valid: True where a distribution with the parameters (except location and scale) exists.
    """

    def __init__(
        self,
        arguments: Signature[P],
        low: Bound = -np.inf,
        high: Bound = np.inf,
        valid: Callable[..., Any] | None = None,
    ) -> None:
        self.arguments, self.low, self.high, self.valid = arguments, low, high, valid

    def support(self, shapes: Any) -> Any:
        return [end(*shapes) if callable(end) else end for end in (self.low, self.high)]

    def inner(self, low: Any, high: Any) -> Any:
        """A point inside of the support, at which functions are evaluated for those outside."""
        if callable(self.low) or callable(self.high):
            margin = dnp.minimum(1.0, 0.5 * (high - low))
            return dnp.clip(0.0, low + margin, high - margin)
        if np.isfinite(low):
            return 0.5 * (low + high) if np.isfinite(high) else low + 1.0
        return 0.0

    def standard(self, compute: Callable[..., Any]) -> Body:
        """A body that calls ``compute(x, shapes, loc, scale)`` with arrays of one shape and type.

        A location or scale that is not given is None. Results are nan where there is no such
        distribution.
        """

        def body(name: str, given: Arguments) -> Any:
            moved, scaled = not _is(given.loc, 0), not _is(given.scale, 1)
            optional = [v for v, used in ((given.loc, moved), (given.scale, scaled)) if used]
            count = len(given.shapes)

            def run(x: Any, *rest: Any) -> Any:
                shapes = rest[:count]
                loc, scale = rest[count] if moved else None, rest[-1] if scaled else None
                wrong = dnp.isnan(x)
                if self.valid is not None:
                    wrong = wrong | ~self.valid(*shapes)
                if scale is not None:
                    wrong = wrong | ~(scale > 0)
                return dnp.where(wrong, np.nan, compute(x, shapes, loc, scale))

            return evaluate(name, run, given.x, *given.shapes, *optional)

        return body

    def cumulative(
        self, kind: str, text: str, f: Standard, below: float, above: float
    ) -> Callable[P, Array]:
        """A public function of probabilities; ``below`` and ``above`` outside the support."""

        def compute(x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
            low, high = self.support(shapes)
            z, under = self.position(_moved(x, loc, scale), low)
            over = z >= high
            z = dnp.where(under | over, self.inner(low, high), z)
            return dnp.where(under, below, dnp.where(over, above, f(z, *shapes)))

        return publish(self.arguments, kind, text, self.standard(compute))

    def position(self, z: Any, low: Any) -> tuple[Any, Any]:
        """The argument at which a probability is computed, and a mask where no value is less."""
        return z, z <= low

    def cdf(self, f: Standard) -> Callable[P, Array]:
        """The public distribution function, from that of the standard distribution."""
        return self.cumulative("cdf", "The distribution function", f, 0.0, 1.0)

    def logcdf(self, f: Standard) -> Callable[P, Array]:
        """The public logarithm of the distribution function."""
        text = "The logarithm of the distribution function"
        return self.cumulative("logcdf", text, f, -np.inf, 0.0)

    def sf(self, f: Standard) -> Callable[P, Array]:
        """The public survival function."""
        text = "The survival function, which is 1 less the distribution function,"
        return self.cumulative("sf", text, f, 1.0, 0.0)

    def logsf(self, f: Standard) -> Callable[P, Array]:
        """The public logarithm of the survival function."""
        text = "The logarithm of the survival function, 1 less the distribution function,"
        return self.cumulative("logsf", text, f, 0.0, -np.inf)

    def quantiles(self, arguments: Signature[Q]) -> Quantiles[Q]:
        """The maker of the inverse functions, whose first argument is a probability."""
        return Quantiles(arguments, self)

    def ends(self, shapes: Any) -> Any:
        """The quantiles of 0 and 1."""
        return self.support(shapes)


def _beyond(z: Any, low: Any, high: Any) -> Any:
    """A mask of numbers outside of a support; nothing is beyond an infinite end."""
    outside = [z < low] if not _is_number(low, -np.inf) else []
    outside += [z > high] if not _is_number(high, np.inf) else []
    return reduce(or_, outside) if outside else False


def _is_number(end: Any, value: float) -> bool:
    return end.__class__ is float and end == value


class Continuous(_Family[P]):
    """Distributions that have a density."""

    def densities(self, f: Standard) -> tuple[Callable[P, Array], Callable[P, Array]]:
        """The public ``logpdf`` and ``pdf``, from the logarithm of the standard density."""

        def log_density(x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
            low, high = self.support(shapes)
            z = _moved(x, loc, scale)
            outside = _beyond(z, low, high) | dnp.isinf(z)
            out = f(dnp.where(outside, self.inner(low, high), z), *shapes)
            out = out if scale is None else out - lax.log(scale)
            return dnp.where(outside, -np.inf, out)

        text = "The logarithm of the probability density"
        log = publish(self.arguments, "logpdf", text, self.standard(log_density))
        density = self.standard(lambda *args: lax.exp(log_density(*args)))
        return log, publish(self.arguments, "pdf", "The probability density", density)


class Discrete(_Family[P]):
    """Distributions of integers. They have no scale."""

    def masses(
        self, f: Standard, mass: Standard | None = None
    ) -> tuple[Callable[P, Array], Callable[P, Array]]:
        """The public ``logpmf`` and ``pmf``, from the logarithm of the standard probabilities.

        Args:
            mass: the probabilities, if they have derivatives where they vanish.
        """

        def within(standard: Standard, outside_value: float) -> Any:
            def value(x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
                low, high = self.support(shapes)
                z = _moved(x, loc, scale)
                outside = _beyond(z, low, high) | (lax.floor(z) != z) | dnp.isinf(z)
                out = standard(dnp.where(outside, low, z), *shapes)
                return dnp.where(outside, outside_value, out)

            return self.standard(value)

        text = "The logarithm of the probability"
        log = publish(self.arguments, "logpmf", text, within(f, -np.inf))
        usual = mass or (lambda *args: lax.exp(f(*args)))
        return log, publish(self.arguments, "pmf", "The probability", within(usual, 0.0))

    def inner(self, low: Any, high: Any) -> Any:
        return low

    def position(self, z: Any, low: Any) -> tuple[Any, Any]:
        z = lax.floor(z)
        return z, z < low

    def ends(self, shapes: Any) -> Any:
        """The quantiles of 0 and 1: that of 0 is the integer before the support."""
        low, high = self.support(shapes)
        return low - 1.0, high


class Quantiles(Generic[Q]):
    """The maker of the inverses of distribution functions."""

    def __init__(self, arguments: Signature[Q], family: _Family[...]) -> None:
        self.arguments, self.family = arguments, family

    def inverse(self, kind: str, text: str, f: Standard, reverse: bool) -> Callable[Q, Array]:
        """A public inverse: the ends of the support at 0 and 1 (or reversed), nan beyond."""

        def compute(q: Any, shapes: Any, loc: Any, scale: Any) -> Any:
            first, last = self.family.ends(shapes)
            first, last = (last, first) if reverse else (first, last)
            usual = (q > 0) & (q < 1)
            out = f(dnp.where(usual, q, 0.5), *shapes)
            out = dnp.where(q == 0, first, dnp.where(q == 1, last, out))
            out = dnp.where(usual | (q == 0) | (q == 1), out, np.nan)
            out = out if scale is None else out * scale
            return out if loc is None else out + loc

        what = self.family.arguments.__doc__
        return publish(self.arguments, kind, text, self.family.standard(compute), what)

    def ppf(self, f: Standard) -> Callable[Q, Array]:
        """The public inverse of the distribution function, from that of the standard one."""
        return self.inverse("ppf", "The inverse of the distribution function", f, False)

    def isf(self, f: Standard) -> Callable[Q, Array]:
        """The public inverse of the survival function."""
        return self.inverse("isf", "The inverse of the survival function", f, True)


def _is(value: Any, default: int) -> bool:
    return value.__class__ is int and value == default


def _moved(x: Any, loc: Any, scale: Any) -> Any:
    z = x if loc is None else x - loc
    return z if scale is None else z / scale


def log_probability(probability: Any, complement: Any) -> Any:
    """The logarithm of a probability, from it and its complement, accurate where small."""
    small = probability < 0.5
    low = lax.log(dnp.where(small, probability, 0.5))
    return dnp.where(small, low, lax.log1p(-dnp.where(small, 0.5, complement)))
