"""All rules of the table: from traits of primitives and from their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import combinations
from typing import Any

import dovetail_lax as lax
from dovetail_ad import jvp_values, via_jvp
from dovetail_batching import vmap
from dovetail_core import Primitive, algebra, derive, is_inexact, typeof

from .forward import Jet, LaplacianCarrier, forward_rules

Args = Sequence[Jet]
Function = Callable[..., Any]
Rule = Callable[[LaplacianCarrier, Args, dict[str, Any]], Any]


@forward_rules.deriver
def derive_forward(primitive: Primitive) -> Rule | None:
    """By what the primitive is linear in; else by its derivative, which an author wrote, or by
    what it is made of."""
    traits, several = primitive.traits, primitive.multiple_results

    def on_lists(rule: Function, carrier: LaplacianCarrier, f: Function, args: Args) -> Any:
        if several:
            return rule(carrier, f, args)
        return rule(carrier, lambda *xs: [f(*xs)], args)[0]

    by_jvp = by_slopes if traits.elementwise and not several else by_rows
    otherwise = via_jvp(primitive, partial(on_lists, by_jvp)) or derive(primitive)

    def rule(carrier: LaplacianCarrier, args: Args, params: dict[str, Any]) -> Any:
        groups = traits.multilinear_in(moving(args), len(args), params)
        if groups is None:
            return NotImplemented if otherwise is None else otherwise(carrier, args, params)
        f = partial(primitive.bind, **params)
        return on_lists(partial(by_groups, groups=groups), carrier, f, args)

    return rule if traits.linear or traits.constant else otherwise


def moving(args: Args) -> list[int]:
    """The operands that are not constant."""
    return [i for i, a in enumerate(args) if len(a) > 1]


def by_groups(
    carrier: LaplacianCarrier, f: Function, args: Args, groups: Sequence[tuple[int, ...]]
) -> list[Jet]:
    """The jets of what is linear in each group: rows and Laplacians of one group at a time, and
    for each two groups twice the sum over the rows of both."""

    def applied(places: Sequence[int], k: int) -> list[Any]:
        """``f`` of the entries ``k`` of some operands, mapped over rows."""

        def on(*xs: Any) -> list[Any]:
            given = dict(zip(places, xs))
            return f(*[given.get(i, a[0]) for i, a in enumerate(args)])

        values = [carrier.entry(args[i], k) for i in places]
        return vmap(on)(*values) if k == 1 else on(*values)

    rows = [applied(g, 1) for g in groups]
    laplacians = [applied(g, 2) for g in groups if any(len(args[i]) == 3 for i in g)]
    for g, h in combinations(groups, 2):
        crossed = [algebra().sum(ys, (0,)) for ys in applied((*g, *h), 1)]
        laplacians += [crossed, crossed]
    return jets(f(*[a[0] for a in args]), rows, laplacians)


def jets(values: Sequence[Any], rows: list[list[Any]], laplacians: list[list[Any]]) -> list[Jet]:
    """Jets of results, given terms of each of them; None is zero."""
    outs: list[Jet] = []
    for i, y in enumerate(values):
        jet = [y]
        for terms in (rows, laplacians) if is_inexact(getattr(typeof(y), "dtype", None)) else ():
            parts = [t[i] for t in terms if t[i] is not None]
            if not parts:
                break
            jet.append(reduce(algebra().add, parts))
        outs.append(tuple(jet))
    return outs


def by_slopes(carrier: LaplacianCarrier, f: Function, args: Args) -> list[Jet]:
    """The jet of a function of each element: first and second derivatives are arrays like it."""
    what, xs, mul = moving(args), [a[0] for a in args], lax.mul_p.bind

    def slope(g: Function, a: int, *xs: Any) -> tuple[list[Any], list[Any]]:
        ones = [algebra().full(typeof(x), 1) if i == a else None for i, x in enumerate(xs)]
        return jvp_values(g, xs, ones)

    def first(a: int, *xs: Any) -> list[Any]:
        """The value and, unless it is zero, the derivative by one operand."""
        values, dots = slope(f, a, *xs)
        return [*values, *(t for t in dots if t is not None)]

    y, rows, laplacians = None, list[list[Any]](), list[list[Any]]()
    for n, a in enumerate(what):
        for b in what[: n + 1]:
            (y, *da), (_, *dab) = slope(partial(first, a), b, *xs)
            kinds = {typeof(x).dtype for x in (xs[a], xs[b], y)}  # type: ignore[attr-defined]
            if len(kinds) > 1 or kinds.pop().kind == "c":  # a derivative is no product then
                return by_rows(carrier, f, args)
            if dab and dab[0] is not None:
                square = algebra().sum(vmap(mul)(args[a][1], args[b][1]), (0,))
                laplacians += [[mul(dab[0], square)]] * (1 if a == b else 2)
        rows += [[vmap(partial(mul, d))(args[a][1])] for d in da]
        laplacians += [[mul(d, args[a][2])] for d in da if len(args[a]) == 3]
    return jets([y], rows, laplacians)


def by_rows(carrier: LaplacianCarrier, f: Function, args: Args) -> list[Jet]:
    """The jets of any operation with a derivative: second derivatives along each of the rows."""
    what, xs, live = moving(args), [a[0] for a in args], list[bool]()

    def along(*row: Any) -> Any:
        given = dict(zip(what, row))
        tangents = [given.get(i) for i in range(len(xs))]

        def first(*xs: Any) -> list[Any]:
            found = jvp_values(f, xs, tangents)[1]
            live[:] = [t is not None for t in found]
            return [t for t in found if t is not None]

        return jvp_values(first, xs, tangents)

    found = [iter(ys) for ys in vmap(along)(*[args[i][1] for i in what])]
    rows, bends = ([next(ys) if has else None for has in live] for ys in found)
    laplacians = [[None if y is None else algebra().sum(y, (0,)) for y in bends]]
    if any(len(a) == 3 for a in args):
        tangents = [a[2] if len(a) == 3 else None for a in args]
        laplacians.append(jvp_values(f, xs, tangents)[1])
    return jets(f(*xs), [rows], laplacians)
