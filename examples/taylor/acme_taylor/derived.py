"""Rules of the table that follow: from traits of primitives, and from their first derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Any

from dovetail_ad import jvp_values, via_jvp
from dovetail_core import MissingRule, Primitive, algebra, derive, is_inexact, lift_call, typeof

from .series import Series, SeriesCarrier, coefficient, scaled, series_rules

Args = Sequence[Series]
Rule = Callable[[SeriesCarrier, Args, dict[str, Any]], Any]


def moving(args: Args) -> list[int]:
    """The operands that are not constant."""
    return [i for i, a in enumerate(args) if len(a) > 1]


def as_list(out: Any) -> list[Any]:
    """The results, also of a primitive with one."""
    return list(out) if isinstance(out, (list, tuple)) else [out]


@series_rules.deriver
def derive_series(primitive: Primitive) -> Rule | None:
    """Products of series where the primitive is linear in what moves; else by its derivative, which
    an author wrote, or by what it is made of."""
    otherwise = via_jvp(primitive, by_derivative) or derive(primitive)
    traits = primitive.traits
    if not (traits.linear or traits.constant):
        return otherwise

    def rule(carrier: SeriesCarrier, args: Args, params: dict[str, Any]) -> Any:
        what = moving(args)
        groups = [g for g in traits.groups(len(args), params) if set(g) & set(what)]
        one = traits.linear_in(what, len(args), params)
        covered = [i for g in groups for i in g]
        if set(what) <= set(traits.constant):
            groups = []
        elif one is not None:
            groups = [one]
        elif not set(what) <= set(covered) or len(covered) != len(set(covered)):
            if otherwise is None:
                raise MissingRule(f"taylor: {primitive.name!r} has no derivative in {what}.")
            return otherwise(carrier, args, params)
        outs = convolve(carrier, lambda *xs: as_list(primitive.bind(*xs, **params)), args, groups)
        return outs if primitive.multiple_results else outs[0]

    return rule


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
    sums = [[reduce(algebra().add, ys) for ys in zip(*found)] for found in terms if found]
    return [
        ys if is_inexact(getattr(typeof(ys[0]), "dtype", None)) else ys[:1] for ys in zip(*sums)
    ]


def by_derivative(carrier: SeriesCarrier, f: Callable[..., Any], args: Args) -> Any:
    """The rule of any operation with a derivative.

    f(x(t))' is the derivative of f at x(t) along x'(t), whose series is found by the same
    transformation, to one order less: no differentiation is nested.
    """
    what, n = moving(args), len(args)
    dotted: list[bool] = []
    single: list[bool] = []

    def flat(*xs: Any) -> list[Any]:
        out = f(*xs)
        single[:] = [not isinstance(out, (list, tuple))]
        return as_list(out)

    def push(*values: Any) -> list[Any]:
        rates = dict(zip(what, values[n:]))
        outs, dots = jvp_values(flat, values[:n], [rates.get(i) for i in range(n)])
        dotted[:] = [dot is not None for dot in dots]
        return [*outs, *(dot for dot in dots if dot is not None)]

    less = SeriesCarrier(carrier.order - 1)
    rates = [tuple(scaled(c, k) for k, c in enumerate(args[i]) if k) for i in what]
    found = lift_call(less, push, [*(a[: carrier.order] for a in args), *rates])
    rest = iter(found[len(dotted) :])
    outs: list[Series] = []
    for y, has_dot in zip(found, dotted):
        dots = next(rest) if has_dot else ()
        outs.append((y[0], *(scaled(c, 1 / (k + 1)) for k, c in enumerate(dots))))
    return outs[0] if single[0] else outs
