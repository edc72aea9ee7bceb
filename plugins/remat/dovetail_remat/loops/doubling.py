"""A loop beside its derivative: each state, operand and result with its tangent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_values
from dovetail_core import (
    ClosedJaxpr,
    Var,
    generation,
    is_inexact,
    jaxpr_as_fun,
    stage_closed,
    typeof,
    zeros_like_aval,
)

from .description import Loop
from .steps import Flags


def doubled(loop: Loop, unknown: Flags, dotted: Sequence[bool]) -> tuple[Loop, Flags, Flags]:
    """The loop beside its derivative, with a tangent behind each carry, operand and result.

    Unknown inputs have tangents, and the known ones marked in ``dotted``; a known carry also if
    the body gives it one. Returns the loop, ``unknown`` for its operands, and which operands of
    the given loop have a tangent.
    """
    flags = iter(dotted)
    lifted = [True if u else next(flags) for u in unknown]
    nc, nk = loop.num_consts, loop.num_carry
    while True:
        body, outs = _doubled_body(loop.body, tuple(lifted), nc, nk)
        joined = [a or b for a, b in zip(lifted[nc : nc + nk], outs)]
        if joined == lifted[nc : nc + nk]:
            break
        lifted[nc : nc + nk] = joined
    widths = [1 + t for t in lifted]
    counts = sum(widths[:nc]), sum(widths[nc : nc + nk])
    condition = None if loop.condition is None else _widened(loop.condition, lifted)
    flat = tuple(u for u, n in zip(unknown, widths) for _ in range(n))
    return loop.with_body(body, *counts, condition=condition), flat, tuple(lifted)


def _doubled_body(body: ClosedJaxpr, lifted: Flags, nc: int, nk: int) -> tuple[ClosedJaxpr, Flags]:
    """The body with tangents, and which carries it gives one.

    A carry that comes in with a tangent goes out with one, and so do all ``ys`` that can.
    """
    key = ("checkpointed doubled", lifted, nc, nk, generation.value)
    return body.memo(key, lambda: _double_body(body, lifted, nc, nk))


def _double_body(body: ClosedJaxpr, lifted: Flags, nc: int, nk: int) -> tuple[ClosedJaxpr, Flags]:
    types: list[Any] = []
    for aval, dot in zip(body.in_avals, lifted):
        types += [aval, aval.tangent_type()] if dot else [aval]
    have: list[bool] = []

    def step(*args: Any) -> list[Any]:
        values = iter(args)
        pairs = [(next(values), next(values) if d else None) for d in lifted]
        outs, dots = jvp_values(jaxpr_as_fun(body), [p for p, _ in pairs], [t for _, t in pairs])
        have[:] = [t is not None for t in dots[:nk]]
        wanted = [a or b for a, b in zip(have, lifted[nc : nc + nk])]
        flat: list[Any] = []
        for x, t, w in zip(outs, dots, wanted + dotted_outputs(body, nk)):
            flat.append(x)
            if w:
                flat.append(zeros_like_aval(typeof(x).tangent_type()) if t is None else t)
        return flat

    program = stage_closed(step, types, body.jaxpr.name)
    return program, tuple(have)


def dotted_outputs(body: ClosedJaxpr, nk: int) -> list[bool]:
    """Which ``ys`` of a body have a tangent beside them."""
    return [is_inexact(a.dtype) for a in body.out_avals[nk:]]  # type: ignore[attr-defined]


def _widened(condition: ClosedJaxpr, lifted: Sequence[bool]) -> ClosedJaxpr:
    """The condition with the tangents among its inputs, which it does not look at."""
    jaxpr = condition.jaxpr
    invars: list[Var] = []
    for v, dot in zip(jaxpr.invars, lifted):
        invars += [v, Var(v.aval.tangent_type())] if dot else [v]
    return ClosedJaxpr(jaxpr.replace(invars=invars), condition.consts)
