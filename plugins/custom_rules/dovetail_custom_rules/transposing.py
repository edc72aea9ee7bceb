"""Rules of rows that are linear in some operands and whose author wrote the transpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import is_linear, jvp_values
from dovetail_core import MissingRule, Primitive, typeof
from dovetail_core.types.algebra import add, zeros

from .flat import Transposed


def transpose_rule(transposed: Transposed, name: str) -> Callable[..., Any]:
    """The rule of ``ad.transpose``: the author's rule, on the operands that are known."""

    def rule(cotangents: Sequence[Any], *args: Any, **params: Any) -> list[Any]:
        for x, linear in zip(args, transposed.linear):
            if is_linear(x) and not linear:
                raise MissingRule(
                    f"{name} is transposed with respect to a residual argument, in which it is not "
                    "linear: its transpose rule only speaks of its linear arguments."
                )
        known = [None if is_linear(x) else x for x in args]
        found = transposed.apply(known, cotangents)
        return [ct if is_linear(x) else None for ct, x in zip(found, args)]

    return rule


def linear_jvp_rule(row: Primitive, transposed: Transposed) -> Callable[..., Any]:
    """The rule of ``ad.jvp``: the row itself on tangents of what it is linear in, and the
    derivative of its body for the rest."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        body: Any = row.decomposition
        outs = row.bind(*primals, **params)
        totals: list[Any] = [None] * len(outs)
        linear = transposed.linear
        if any(t is not None for t, f in zip(tangents, linear) if f):
            operands = [
                x if not f else zeros(typeof(x)) if t is None else t
                for x, t, f in zip(primals, tangents, linear)
            ]
            totals = list(row.bind(*operands, **params))
        rest = [None if f else t for t, f in zip(tangents, linear)]
        if any(t is not None for t in rest):
            more = jvp_values(lambda *xs: body(*xs, **params), primals, rest)[1]
            totals = [
                a if b is None else b if a is None else add(a, b) for a, b in zip(totals, more)
            ]
        return outs, totals

    return rule
