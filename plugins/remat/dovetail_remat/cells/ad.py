"""Differentiating a checkpointed call: keep what the policy allows, record the rest for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import (
    LinearTrace,
    Split,
    is_linear,
    jvp_rules,
    partial_eval_rules,
    split_program,
    transpose_program,
    transpose_rules,
)
from dovetail_core import ClosedJaxpr, Jaxpr, Var, dce_closed, eval_jaxpr, stage_closed

from ..primitive import name_p, remat_p


@jvp_rules.register(name_p)
def _name_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, name: str) -> tuple[Any, Any]:
    return name_p.bind(primals[0], name=name), tangents[0]


@partial_eval_rules.register(remat_p)
def _remat_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Compute the known results, with the values that the policy keeps; record a checkpointed call
    that computes all other residuals again, from those and the inputs, and then the linear part."""
    unknown = tuple(trace.owns(x) for x in args)
    split = split_program(params["program"], unknown)
    saved = _saved(split.known, params["policy"])
    n = split.num_known_outputs
    forward = _forward(split, saved, n)
    known_args = [x for x, u in zip(args, unknown) if not u]
    found = remat_p.bind(*known_args, **{**params, "program": forward})
    if not any(split.out_unknown):
        return found[:n]
    rest = _rest(split, saved, n)
    operands = [*found[n:], *known_args, *(x for x, u in zip(args, unknown) if u)]
    recorded = trace.record(remat_p, operands, {**params, "program": rest, "differentiated": True})
    return split.merge(found[:n], recorded)


def _saved(known: ClosedJaxpr, policy: Any) -> list[Var]:
    """Variables of the known program that the policy keeps."""
    if policy is None:
        return []
    return [
        v
        for eqn in known.eqns
        if policy(eqn.primitive, *[x.aval for x in eqn.invars], **eqn.params)
        for v in eqn.outvars
    ]


def _forward(split: Split, saved: list[Var], n: int) -> ClosedJaxpr:
    """The known program, returning its results and the saved values."""
    jaxpr = split.known.jaxpr
    outvars = [*jaxpr.outvars[:n], *saved]
    whole = ClosedJaxpr(jaxpr.replace(outvars=outvars), split.known.consts)
    return dce_closed(whole, [True] * len(outvars), True)[0]


def _rest(split: Split, saved: list[Var], n: int) -> ClosedJaxpr:
    """From saved values, known inputs and unknowns to the unknown results."""
    jaxpr = split.known.jaxpr
    kept = set(saved)
    eqns = [e for e in jaxpr.eqns if not kept.issuperset(e.outvars)]
    again = Jaxpr(jaxpr.constvars, [*saved, *jaxpr.invars], jaxpr.outvars[n:], eqns)
    again = dce_closed(ClosedJaxpr(again, split.known.consts), [True] * len(again.outvars), True)[0]
    num_saved, num_known = len(saved), len(jaxpr.invars)
    unknown_avals = split.linear.in_avals[len(split.residuals) :]

    def run(*args: Any) -> list[Any]:
        returned = eval_jaxpr(again.jaxpr, again.consts, *args[: num_saved + num_known])
        residuals = split.residual_values(args[num_saved : num_saved + num_known], returned)
        unknown = args[num_saved + num_known :]
        return eval_jaxpr(split.linear.jaxpr, split.linear.consts, *residuals, *unknown)

    return stage_closed(run, [*again.in_avals, *unknown_avals], jaxpr.name)


@transpose_rules.register(remat_p)
def _remat_transpose(
    cotangents: Sequence[Any], *args: Any, program: ClosedJaxpr, **params: Any
) -> list[Any]:
    """The transposed program contains the second computation of the values that were not kept."""
    linear = tuple(is_linear(x) for x in args)
    given = tuple(ct is not None for ct in cotangents)
    transposed, nonzero = transpose_program(program, linear, given)
    values = [x for x, live in zip(args, linear) if not live]
    cts = [ct for ct in cotangents if ct is not None]
    found = iter(remat_p.bind(*values, *cts, program=transposed, **params))
    have = iter(nonzero)
    return [next(found) if live and next(have) else None for live in linear]
