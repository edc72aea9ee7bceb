"""Differentiating checkpointed loops: each order by loops that keep a bounded number of states."""

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
)
from dovetail_core import run_under, zeros_like_aval

from ..description import Loop, regions_of
from ..doubling import dotted_outputs, doubled
from ..effects import check_known, silent
from ..machine import pick
from ..primitives import forward_p, linear_p, loop_p, reverse_p
from ..steps import Flags, known_loop, reduced_loop


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
    """Run what is known, keeping states; record the linear rest.

    Returns results, the buffers of the ``stored`` carries, and control. A buffer whose states are
    not known is an unknown that stands for itself: it is not differentiated, and a reverse pass
    that is given it computes its states again.
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
    """Linear in what it knows, where its unknowns are known: then it is a loop as any."""
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
    """The forward pass of the loop beside its derivative; what is kept has no tangent."""
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
