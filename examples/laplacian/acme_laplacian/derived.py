"""All rules of the table: from traits of primitives and from their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from itertools import combinations
from typing import Any

import dovetail_lax as lax
from dovetail_ad import jvp_values, via_jvp
from dovetail_batching import vmap
from dovetail_core import MissingRule, Primitive, algebra, derive, is_inexact, typeof

from .forward import Jet, LaplacianCarrier, forward_rules

Args = Sequence[Jet]
Function = Callable[..., Any]
Rule = Callable[[LaplacianCarrier, Args, dict[str, Any]], Any]


@forward_rules.deriver
def derive_forward(primitive: Primitive) -> Rule | None:
    """By what the primitive is linear in; else by its derivative, which an author wrote, or by
    what it is made of."""
    traits = primitive.traits
    by_jvp = by_slopes if traits.elementwise and not primitive.multiple_results else by_rows
    otherwise = via_jvp(primitive, by_jvp) or derive(primitive)
    if not (traits.linear or traits.constant):
        return otherwise

    def rule(carrier: LaplacianCarrier, args: Args, params: dict[str, Any]) -> Any:
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
                raise MissingRule(f"laplacian: {primitive.name!r} has no derivative in {what}.")
            return otherwise(carrier, args, params)
        outs = by_groups(carrier, partial(_listed, partial(primitive.bind, **params)), args, groups)
        return outs if primitive.multiple_results else outs[0]

    return rule


def moving(args: Args) -> list[int]:
    """The operands that are not constant."""
    return [i for i, a in enumerate(args) if len(a) > 1]


def _listed(f: Function, *xs: Any) -> list[Any]:
    out = f(*xs)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def by_groups(
    carrier: LaplacianCarrier, f: Function, args: Args, groups: Sequence[tuple[int, ...]]
) -> list[Jet]:
    """The jets of what is linear in each group: rows and Laplacians of one group at a time, and
    for each two groups twice the sum over the rows of both."""
    entry = carrier.entry

    def applied(chosen: Sequence[tuple[int, ...]], k: int) -> list[Any]:
        """``f`` with entries ``k`` of the groups ``chosen``, mapped over rows."""
        places = [i for g in chosen for i in g]

        def on(*xs: Any) -> list[Any]:
            given = dict(zip(places, xs))
            return f(*[given.get(i, a[0]) for i, a in enumerate(args)])

        values = [entry(args[i], k) for i in places]
        return vmap(on)(*values) if k == 1 else on(*values)

    rows = [applied([g], 1) for g in groups]
    bent = [g for g in groups if any(len(args[i]) == 3 for i in g)]
    laplacians = [applied([g], 2) for g in bent]
    for pair in combinations(groups, 2):
        crossed = [algebra().sum(ys, (0,)) for ys in applied(pair, 1)]
        laplacians.append([algebra().add(y, y) for y in crossed])
    return jets(f(*[a[0] for a in args]), _sums(rows), _sums(laplacians))


def _sums(terms: Iterable[Sequence[Any]]) -> list[Any]:
    """The sums, result by result; None is zero."""

    def add(x: Any, y: Any) -> Any:
        return y if x is None else x if y is None else algebra().add(x, y)

    return [reduce(add, ys) for ys in zip(*terms)]


def jets(values: Sequence[Any], rows: Sequence[Any], laplacians: Sequence[Any]) -> list[Jet]:
    """Jets of the parts of results, as short as they may be; what is None is zero."""
    outs: list[Jet] = []
    for i, y in enumerate(values):
        j = rows[i] if rows else None
        lap = laplacians[i] if laplacians else None
        exact = not is_inexact(getattr(typeof(y), "dtype", None))
        outs.append((y,) if exact or j is None else (y, j) if lap is None else (y, j, lap))
    return outs


def by_slopes(carrier: LaplacianCarrier, f: Function, args: Args) -> Any:
    """The rule of a function of each element: first and second derivatives are arrays like it."""
    what, xs = moving(args), [a[0] for a in args]

    def ones(a: int) -> list[Any]:
        return [algebra().full(typeof(x), 1) if i == a else None for i, x in enumerate(xs)]

    def slope(a: int, *xs: Any) -> list[Any]:
        """The value and, unless it is zero, the derivative by one operand."""
        values, dots = jvp_values(partial(_listed, f), xs, ones(a))
        return [*values, *(t for t in dots if t is not None)]

    y: Any = None
    rows: list[Any] = []
    laplacians: list[Any] = []
    mul = lax.mul_p.bind
    for n, a in enumerate(what):
        for b in what[: n + 1]:
            (y, *first), (_, *second) = jvp_values(partial(slope, a), xs, ones(b))
            kinds = {typeof(x).dtype for x in (xs[a], xs[b], y)}  # type: ignore[attr-defined]
            if len(kinds) > 1 or kinds.pop().kind == "c":  # a derivative is no product then
                return by_rows(carrier, f, args)
            if second and second[0] is not None:
                square = algebra().sum(vmap(mul)(args[a][1], args[b][1]), (0,))
                term = mul(second[0], square)
                laplacians.append([term if a == b else algebra().add(term, term)])
        if first:
            rows.append([vmap(partial(mul, first[0]))(args[a][1])])
            if len(args[a]) == 3:
                laplacians.append([mul(first[0], args[a][2])])
    return jets([y], _sums(rows), _sums(laplacians))[0]


def by_rows(carrier: LaplacianCarrier, f: Function, args: Args) -> Any:
    """The rule of any operation with a derivative: second derivatives along each of the rows."""
    what, xs, single = moving(args), [a[0] for a in args], list[bool]()
    live: list[bool] = []

    def flat(*xs: Any) -> list[Any]:
        out = f(*xs)
        single[:] = [not isinstance(out, (list, tuple))]
        return [out] if single[0] else list(out)

    def along(*row: Any) -> Any:
        given = dict(zip(what, row))
        tangents = [given.get(i) for i in range(len(xs))]

        def first(*xs: Any) -> list[Any]:
            found = jvp_values(flat, xs, tangents)[1]
            live[:] = [t is not None for t in found]
            return [t for t in found if t is not None]

        return jvp_values(first, xs, tangents)

    found = [iter(ys) for ys in vmap(along)(*[args[i][1] for i in what])]
    rows, bends = ([next(ys) if has else None for has in live] for ys in found)
    terms = [[None if y is None else algebra().sum(y, (0,)) for y in bends]]
    if any(len(a) == 3 for a in args):
        terms.append(jvp_values(flat, xs, [a[2] if len(a) == 3 else None for a in args])[1])
    outs = jets(flat(*xs), rows, _sums(terms))
    return outs[0] if single[0] else outs
