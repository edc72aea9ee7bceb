"""Rules of series for one's own primitives, in the form that JAX's users know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dovetail_core import Primitive, algebra, is_inexact, typeof

from .functions import jet2
from .recurrences import product
from .series import (
    Series,
    SeriesCarrier,
    ZeroSeries,
    ZeroTerm,
    coefficient,
    scaled,
    series_rules,
    zero_series,
)

JetRule = Callable[..., tuple[Any, Any]]
"""``rule(primals_in, series_in, **params) -> (primal_out, series_out)``, see :data:`jet_rules`."""


class JetRules(Mapping[Primitive, JetRule]):
    """The rule table ``experimental.series`` as a dictionary of rules of JAX's form."""

    def __getitem__(self, prim: Primitive) -> JetRule:
        rule = series_rules.get(prim)
        if rule is None:
            raise KeyError(prim)
        return partial(_apply, prim, rule)

    def __setitem__(self, prim: Primitive, rule: JetRule) -> None:
        series_rules.set(prim, _adapted(prim, rule), override=True)

    def __iter__(self) -> Iterator[Primitive]:
        series_rules.fill()
        return iter(list(series_rules.rules))

    def __len__(self) -> int:
        series_rules.fill()
        return len(series_rules.rules)


jet_rules = JetRules()
"""Rules of primitives under ``jet``: ``jet_rules[prim] = rule`` adds one or replaces it.

``rule(primals_in, series_in, **params)`` is given the operands and for each a list of the
coefficients of its power series from the first power on, arrays of the operand's shape. It returns
the result and a list of its coefficients, or ``zero_series`` (a list of results and one of series
where the primitive has several results). ``zero_term`` may stand for a coefficient.

Most primitives need no entry: those that are linear, that have a derivative, or that are made of
others have a rule without one.
"""


def deflinear(prim: Primitive) -> None:
    """Let ``prim`` be linear in all of its operands together."""
    jet_rules[prim] = partial(linear_prop, prim)


def defzero(prim: Primitive) -> None:
    """Let the results of ``prim`` be constant along every path."""
    jet_rules[prim] = partial(zero_prop, prim)


def def_deriv(prim: Primitive, deriv: Callable[[Any], Any]) -> None:
    """Say what the derivative of ``prim`` is, a function of one operand, element by element."""
    jet_rules[prim] = partial(deriv_prop, prim, deriv)


def def_comp(prim: Primitive, comp: Callable[..., Any], **kwargs: Any) -> None:
    """Say of which simpler operations ``prim`` is composed: ``comp`` takes the same operands.

    ``kwargs`` are further arguments of ``jet2``.
    """

    def rule(primals_in: Any, series_in: Any, **params: Any) -> tuple[Any, Any]:
        return jet2(comp, primals_in, series_in, **kwargs)

    jet_rules[prim] = rule


def linear_prop(
    prim: Primitive, primals_in: Sequence[Any], series_in: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    """The rule of a linear primitive: it is applied to the terms of each order."""
    apply = partial(prim.bind, **params)
    return apply(*primals_in), _by_result(prim, [apply(*terms) for terms in zip(*series_in)])


def zero_prop(
    prim: Primitive, primals_in: Sequence[Any], series_in: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    """The rule of a primitive whose results are constant."""
    primal_out = prim.bind(*primals_in, **params)
    return primal_out, [zero_series] * len(primal_out) if prim.multiple_results else zero_series


def deriv_prop(
    prim: Primitive, deriv: Callable[[Any], Any], primals_in: Any, series_in: Any, **params: Any
) -> tuple[Any, Any]:
    """The rule of a function of one operand, from its derivative: y' = deriv(x) x'."""
    (x,), (series,) = primals_in, series_in
    first, others = jet2(deriv, (x,), (list(series)[:-1],))
    rates, slopes = [scaled(c, k) for k, c in enumerate(series, 1)], [first, *others]
    terms = [scaled(product(rates, slopes, k), 1 / (k + 1)) for k in range(len(rates))]
    return prim.bind(x, **params), terms


def _by_result(prim: Primitive, terms: list[Any]) -> Any:
    return [list(series) for series in zip(*terms)] if prim.multiple_results else terms


def _apply(
    prim: Primitive, rule: Any, primals_in: Sequence[Any], series_in: Any, **params: Any
) -> Any:
    """A rule of the table, called as one of ``jet_rules``."""
    order = max((len(s) for s in series_in if not isinstance(s, ZeroSeries)), default=0)
    args = [_series(x, s) for x, s in zip(primals_in, series_in)]
    if all(len(a) == 1 for a in args):
        return zero_prop(prim, primals_in, series_in, **params)
    result = rule(SeriesCarrier(order), args, params)
    if result is NotImplemented:
        result = series_rules.fallback(prim)(SeriesCarrier(order), args, params)
    outs = result if prim.multiple_results else [result]
    terms = [[coefficient(y, k) for k in range(1, order + 1)] for y in outs]
    values = [y[0] for y in outs]
    return (values, terms) if prim.multiple_results else (values[0], terms[0])


def _adapted(prim: Primitive, rule: JetRule) -> Callable[..., Any]:
    """A rule of JAX's form as the table has them."""

    def adapted(carrier: SeriesCarrier, args: Sequence[Series], params: dict[str, Any]) -> Any:
        orders = range(1, carrier.order + 1)
        terms = [[coefficient(a, k) for k in orders] for a in args]
        primal, series = rule([a[0] for a in args], terms, **params)
        if prim.multiple_results:
            return [_series(y, s) for y, s in zip(primal, series)]
        return _series(primal, series)

    return adapted


def _series(y: Any, terms: Any) -> Series:
    """A value and its terms as a series: of constants the first coefficient alone."""
    aval: Any = typeof(y)
    if isinstance(terms, ZeroSeries) or not is_inexact(getattr(aval, "dtype", None)):
        return (y,)
    zero = algebra().full
    return (y, *[zero(aval, 0) if isinstance(c, ZeroTerm) else c for c in terms])
