"""Differentiation of checkpointed loops, at every order by loops that keep few states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import (
    LinearTrace,
    is_linear,
    jvp_rules,
    partial_eval_rules,
    split_regions,
    transpose_rules,
    vjp,
)
from dovetail_core import run_under, zeros_like_aval

from ..description import Loop, regions_of
from ..effects import check_known, silent
from ..primitives import forward_p, linear_p, loop_p, reverse_p
from ..second import dotted_outputs, doubled, operands_of, run_second, second_p
from ..steps import Flags, known_loop, pick, reduced_loop


@partial_eval_rules.register(loop_p)
def _loop_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    loop = Loop.of(params)
    return _linearized(trace, args, loop, (False,) * loop.num_carry)[0]


@partial_eval_rules.register(forward_p)
def _forward_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    outs, kept, control = _linearized(trace, args, Loop.of(params), params["stored"])
    return [*outs, *kept, control]


def _linearized(
    trace: LinearTrace, args: Sequence[Any], loop: Loop, stored: Flags
) -> tuple[list[Any], list[Any], Any]:
    """Run the known part, keeping states; record the linear part.

    Returns results, the buffers of the ``stored`` carries, and control. A buffer of unknown states
    is a new unknown without an equation: it is not differentiated, and a reverse pass that takes it
    computes its states again.
    """
    nc, nk = loop.num_consts, loop.num_carry
    quiet = silent(loop)
    owned = [trace.owns(x) for x in args]
    _, unknown, out_unknown = split_regions(regions_of(quiet.params), owned)
    known_carry = pick(range(nk), unknown[nc : nc + nk], False)
    rest, needed, _ = reduced_loop(quiet, out_unknown, unknown)
    keep = [stored[k] or needed[nc + k] for k in known_carry]
    again = known_loop(loop, unknown, [not u for u in out_unknown[nk:]])
    check_known(loop, again)
    result = forward_p.bind(*pick(args, unknown, False), **again.params, stored=tuple(keep))
    n = len(again.out_types)
    at = iter(result[n:-1])
    kept = {k: next(at) for k, used in zip(known_carry, keep) if used}
    results = iter(result[:n])
    carry_types = loop.parts(loop.in_types)[1]
    buffers = [
        kept[k] if k in kept else trace.unknown(loop.buffer(a))
        for k, (a, s) in enumerate(zip(carry_types, stored))
        if s
    ]
    if not any(out_unknown):
        return list(results), buffers, result[-1]
    states = [kept[k] for k in known_carry if needed[nc + k]]
    params = {**rest.params, "unknown": tuple(pick(unknown, needed))}
    recorded = iter(trace.record(linear_p, [result[-1], *states, *pick(args, needed)], params))
    outs = [next(recorded) if u else next(results) for u in out_unknown]
    return outs, buffers, result[-1]


@partial_eval_rules.register(linear_p)
def _linear_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Record the loop; run its decomposition if its known operands are unknowns of the trace."""
    loop, unknown = Loop.of(params), params["unknown"]
    operands = args[1 + loop.parts(unknown)[1].count(False) :]
    if not any(trace.owns(x) for x in pick(operands, unknown, False)):
        return trace.record(linear_p, args, params)
    decomposition = linear_p.decomposition
    assert decomposition is not None
    return run_under(trace, decomposition, *args, **params)


@jvp_rules.register(forward_p)
def _forward_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, stored: Flags, **params: Any
) -> tuple[list[Any], list[Any]]:
    """Run the forward pass of the doubled loop; kept states have no tangents."""
    loop = Loop.of(params)
    given = [t is not None for t in tangents]
    two, _, lifted = doubled(loop, (False,) * len(given), given)
    operands: list[Any] = []
    for x, t, a, dot in zip(primals, tangents, loop.in_types, lifted):
        operands.append(x)
        if dot:
            operands.append(zeros_like_aval(a.tangent_type()) if t is None else t)
    carry = loop.parts(lifted)[1]
    keep = [f for s, dot in zip(stored, carry) for f in ((s, False) if dot else (s,))]
    result = iter(forward_p.bind(*operands, **two.params, stored=tuple(keep)))
    outs: list[Any] = []
    dots: list[Any] = []
    for dot in carry + dotted_outputs(loop.body, loop.num_carry):
        outs.append(next(result))
        dots.append(next(result) if dot else None)
    rest = list(result)
    return outs + rest, dots + [None] * len(rest)


@transpose_rules.register(linear_p)
def _linear_transpose(
    cotangents: Sequence[Any], *operands: Any, unknown: Flags, **params: Any
) -> list[Any]:
    loop = Loop.of(params)
    live = loop.parts(unknown)[1]
    states, args = operands[: 1 + live.count(False)], operands[1 + live.count(False) :]
    carry = pick(loop.parts(loop.in_types)[1], live)
    carry_cts = [
        zeros_like_aval(a.cotangent_type()) if ct is None else ct
        for a, ct in zip(carry, cotangents)
    ]
    y_cts = cotangents[len(carry) :]
    result = iter(
        reverse_p.bind(
            *states, *pick(args, unknown, False), *carry_cts,
            *(ct for ct in y_cts if ct is not None), **params, unknown=unknown,
            given=tuple(ct is not None for ct in y_cts), cached=True,
        )
    )  # fmt: skip
    cts = [next(result) if u else None for u in unknown]
    return [None] * len(states) + [ct if is_linear(x) else None for x, ct in zip(args, cts)]


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
    """The types of the results whose cotangents a reverse pass takes."""
    loop = Loop.of(params)
    nk = loop.num_carry
    return pick(loop.out_types[:nk], loop.parts(params["unknown"])[1]) + pick(
        loop.out_types[nk:], params["given"]
    )


@transpose_rules.register(reverse_p)
def _reverse_transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    """Run the linear loop, whose transpose, linear in the cotangents, this is."""
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
    """Record the reverse pass if only its cotangents are unknown.

    If a transpose is transposed, known inputs of the loop are linear in unknowns, and so are its
    states, which cannot be kept. Then its derivative at zero is recorded, which is the same map.
    """
    start, middle, _ = operands_of(params, args)
    if not any(trace.owns(x) for x in args[:middle]):
        return trace.record(reverse_p, args, params)
    dotted = tuple(trace.owns(x) for x in args[start:])
    at = [zeros_like_aval(x.aval) if trace.owns(x) else x for x in args]
    dots = [x for x in args[start:] if trace.owns(x)]
    return trace.record(second_p, [*at, *dots], {**params, "dotted": dotted, "rest": True})


def _along(params: dict[str, Any], operands: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
    """Results of the linear loop that have cotangents, with ``directions`` as unknown operands."""
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
