"""Differentiating reverse passes: their derivatives are reverse passes, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import (
    LinearTrace,
    is_linear,
    jvp_rules,
    partial_eval_rules,
    transpose_rules,
    vjp,
)
from dovetail_core import run_under, zeros_like_aval

from ..description import Loop
from ..machine import pick
from ..primitives import loop_p, reverse_p
from ..second import operands_of, run_second, second_p


@jvp_rules.register(reverse_p)
def _reverse_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[list[Any], list[Any]]:
    start, middle, _ = operands_of(params, primals)
    if all(t is None for t in tangents[start:middle]):  # linear in the cotangents
        cts = [
            zeros_like_aval(a.cotangent_type()) if t is None else t
            for a, t in zip(_ct_types(params), tangents[middle:])
        ]
        return (
            reverse_p.bind(*primals, **params),
            reverse_p.bind(*primals[:middle], *cts, **params),
        )
    dotted = tuple(t is not None for t in tangents[start:])
    dots = [t for t in tangents[start:] if t is not None]
    outs = second_p.bind(*primals, *dots, **params, dotted=dotted, rest=False)
    n = len(outs) // 2
    return outs[:n], outs[n:]


def _ct_types(params: dict[str, Any]) -> list[Any]:
    """The types whose cotangents a reverse pass takes."""
    loop = Loop.of(params)
    nk = loop.num_carry
    return pick(loop.out_types[:nk], loop.parts(params["unknown"])[1]) + pick(
        loop.out_types[nk:], params["given"]
    )


@transpose_rules.register(reverse_p)
def _reverse_transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    """Linear in the cotangents, it is the transpose of the linear loop, which is run."""
    loop, unknown = Loop.of(params), params["unknown"]
    _, middle, _ = operands_of(params, operands)
    types = [a.cotangent_type() for a in pick(loop.in_types, unknown)]
    directions = [zeros_like_aval(a) if ct is None else ct for a, ct in zip(types, cotangents)]
    outs = _along(params, operands, directions)
    cts = [ct if is_linear(x) else None for x, ct in zip(operands[middle:], outs)]
    return [None] * middle + cts


@partial_eval_rules.register(reverse_p)
def _reverse_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Recorded where the cotangents are unknown.

    Where a transpose is transposed, what the loop knows is linear in unknowns, and so are its
    states, which cannot be kept. A linear map is its own derivative, at zero.
    """
    start, middle, _ = operands_of(params, args)
    if not any(trace.owns(x) for x in args[:middle]):
        return trace.record(reverse_p, args, params)
    dotted = tuple(trace.owns(x) for x in args[start:])
    at = [zeros_like_aval(x.aval) if trace.owns(x) else x for x in args]
    dots = [x for x in args[start:] if trace.owns(x)]
    return trace.record(second_p, [*at, *dots], {**params, "dotted": dotted, "rest": True})


def _along(params: dict[str, Any], operands: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
    """The linear loop on ``directions`` for its unknown operands: the results that count."""
    loop, unknown = Loop.of(params), params["unknown"]
    start, middle, _ = operands_of(params, operands)
    known, given = iter(operands[start:middle]), iter(directions)
    args = [next(given) if u else next(known) for u in unknown]
    outs = loop_p.bind(*args, **loop.params)
    nk = loop.num_carry
    return pick(outs[:nk], loop.parts(unknown)[1]) + pick(outs[nk:], params["given"])


@partial_eval_rules.register(second_p)
def _second_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    *_, end = operands_of(params, args)
    if params["rest"] and not any(trace.owns(x) for x in args[:end]):
        return trace.record(second_p, args, params)
    if any(trace.owns(x) for x in args[:end]):  # linear in cotangents
        return run_under(trace, run_second, args, params)
    own = {k: v for k, v in params.items() if k not in ("dotted", "rest")}
    outs = reverse_p.bind(*args[:end], **own)
    return [*outs, *trace.record(second_p, args, {**params, "rest": True})]


@transpose_rules.register(second_p)
def _second_transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    """The transpose of (k', λ') -> Aᵀ λ' + (∂A k')ᵀ λ, for a cotangent u, is (∂(A u))ᵀ λ and A u.

    That is the linear loop along u, and its pullback with respect to what is known.
    """
    loop, unknown = Loop.of(params), params["unknown"]
    start, middle, end = operands_of(params, operands)
    types = [a.cotangent_type() for a in pick(loop.in_types, unknown)]
    directions = [zeros_like_aval(a) if ct is None else ct for a, ct in zip(types, cotangents)]
    dotted = params["dotted"]
    known = [k for k in range(start, middle) if dotted[k - start]]

    def along(*values: Any) -> list[Any]:
        now = list(operands[:end])
        for k, x in zip(known, values):
            now[k] = x
        return _along(params, now, directions)

    outs, pullback = vjp(along, *[operands[k] for k in known])
    result = [*pullback(list(operands[middle:end])), *pick(outs, dotted[middle - start :])]
    tail = operands[end:]
    cts = [ct if is_linear(x) else None for x, ct in zip(tail, result, strict=True)]
    return [None] * end + cts
