"""Rules of the table that follow: from traits of primitives, and from their first derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from typing import Any

from dovetail_ad import jvp_values, via_jvp
from dovetail_core import Primitive, algebra, derive, is_inexact, lift_call, typeof

from .series import Series, SeriesCarrier, coefficient, scaled, series_rules

Args = Sequence[Series]
Rule = Callable[[SeriesCarrier, Args, dict[str, Any]], Any]


def varying_operands(args: Args) -> list[int]:
    """The operands that are not constant."""
    return [i for i, a in enumerate(args) if len(a) > 1]


@series_rules.deriver
def derive_series(primitive: Primitive) -> Rule | None:
    """Products of series where the primitive is linear in what moves; else by its derivative, which
    an author wrote, or by what it is made of."""
    traits = primitive.traits

    def on_lists(rule: Callable[..., list[Series]], carrier: Any, f: Any, args: Args) -> Any:
        if primitive.multiple_results:
            return rule(carrier, f, args)
        return rule(carrier, lambda *xs: [f(*xs)], args)[0]

    otherwise = via_jvp(primitive, partial(on_lists, by_derivative)) or derive(primitive)

    def rule(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Any:
        groups = traits.multilinear_in(varying_operands(args), len(args), params)
        if groups is None:
            return NotImplemented if otherwise is None else otherwise(carrier, args, params)
        f = partial(primitive.bind, **params)
        return on_lists(partial(convolve, groups=groups), carrier, f, args)

    return rule if traits.linear or traits.constant else otherwise


def convolve(
    carrier: SeriesCarrier,
    f: Callable[..., list[Any]],
    args: Args,
    groups: Sequence[tuple[int, ...]],
) -> list[Series]:
    """The series of what is linear in each group of operands: a sum over powers of the groups."""
    degrees = [max(len(args[i]) for i in g) for g in groups]
    terms: list[list[Any]] = [[] for _ in range(carrier.order + 1)]
    for powers in product(*map(range, degrees)):
        if sum(powers) <= carrier.order:
            power = {i: k for g, k in zip(groups, powers) for i in g}
            xs = [coefficient(a, power.get(i, 0)) for i, a in enumerate(args)]
            terms[sum(powers)].append(f(*xs))
    sums = [[reduce(algebra().add, ys) for ys in zip(*result)] for result in terms if result]
    return [
        ys if is_inexact(getattr(typeof(ys[0]), "dtype", None)) else ys[:1] for ys in zip(*sums)
    ]


def by_derivative(carrier: SeriesCarrier, f: Callable[..., list[Any]], args: Args) -> list[Series]:
    """The series of any operation with a derivative.

    f(x(t))' is the derivative of f at x(t) along x'(t), whose series is found by the same
    transformation, to one order less: no differentiation is nested.
    """
    what, n = varying_operands(args), len(args)
    dotted: list[bool] = []

    def push(*values: Any) -> list[Any]:
        rates = dict(zip(what, values[n:]))
        outs, dots = jvp_values(f, values[:n], [rates.get(i) for i in range(n)])
        dotted[:] = [dot is not None for dot in dots]
        return [*outs, *(dot for dot in dots if dot is not None)]

    less = SeriesCarrier(carrier.order - 1)
    rates = [tuple(scaled(c, k) for k, c in enumerate(args[i]) if k) for i in what]
    result = lift_call(less, push, [*(a[: carrier.order] for a in args), *rates])
    rest = iter(result[len(dotted) :])
    dots = [next(rest) if has_dot else () for has_dot in dotted]
    return [(y[0], *(scaled(c, 1 / k) for k, c in enumerate(d, 1))) for y, d in zip(result, dots)]
