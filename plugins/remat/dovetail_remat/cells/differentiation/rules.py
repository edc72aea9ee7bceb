"""Differentiating a checkpointed call: keep what the policy allows, record the rest for later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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
from dovetail_core import ClosedJaxpr, Jaxpr, Var, dce_closed, eval_jaxpr, generation, stage_closed

from ...primitive import name_p, remat_p
from .opening import opened


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
    parts = _parts(params["program"], unknown, params["policy"])
    known_args = [x for x, u in zip(args, unknown) if not u]
    found = remat_p.bind(*known_args, **{**params, "program": parts.forward})
    n = parts.split.num_known_outputs
    if not any(parts.split.out_unknown):
        return found[:n]
    operands = [
        *found[n:],
        *(x for x, needed in zip(known_args, parts.needed) if needed),
        *(x for x, u in zip(args, unknown) if u),
    ]
    rest = {**params, "program": parts.rest, "differentiated": True}
    return parts.split.merge(found[:n], trace.record(remat_p, operands, rest))


class _Parts(NamedTuple):
    """A checkpointed program in two.

    Attributes:
        forward: from the known inputs to the known results and the values that are kept.
        rest: from the kept values, the known inputs that are ``needed`` and the unknowns to the
            unknown results.
    """

    split: Split
    forward: ClosedJaxpr
    rest: ClosedJaxpr
    needed: tuple[bool, ...]


def _parts(program: ClosedJaxpr, unknown: tuple[bool, ...], policy: Any) -> _Parts:
    key = ("remat", unknown, policy, generation.value)
    try:
        found = program.cache.get(key)
    except TypeError:  # a policy that is not hashable: nothing to remember the parts by
        return _make_parts(program, unknown, policy)
    if found is None:
        found = program.cache[key] = _make_parts(program, unknown, policy)
    return found


def _make_parts(program: ClosedJaxpr, unknown: tuple[bool, ...], policy: Any) -> _Parts:
    split = split_program(program, unknown)
    known = split.known if policy is None else opened(split.known, policy)
    saved = [] if policy is None else _saved(known, policy)
    whole = _rest(split, known, saved)
    m, num_known = len(saved), len(known.in_avals)
    keep = [False] * (m + num_known) + [True] * (len(whole.in_avals) - m - num_known)
    rest, needed = dce_closed(whole, [True] * len(whole.out_avals), keep)
    kept = [v for v, use in zip(saved, needed) if use]
    forward = _forward(known, kept, split.num_known_outputs)
    return _Parts(split, forward, rest, tuple(needed[m : m + num_known]))


def _saved(known: ClosedJaxpr, policy: Callable[..., bool]) -> list[Var]:
    """Variables of the known program that the policy keeps."""
    return [
        v
        for eqn in known.eqns
        if policy(eqn.primitive, *[x.aval for x in eqn.invars], **eqn.params)
        for v in eqn.outvars
    ]


def _forward(known: ClosedJaxpr, kept: list[Var], n: int) -> ClosedJaxpr:
    """The known program, returning its results and the kept values."""
    outvars = [*known.jaxpr.outvars[:n], *kept]
    whole = ClosedJaxpr(known.jaxpr.replace(outvars=outvars), known.consts)
    return dce_closed(whole, [True] * len(outvars), True)[0]


def _rest(split: Split, known: ClosedJaxpr, saved: list[Var]) -> ClosedJaxpr:
    """From saved values, known inputs and unknowns to the unknown results."""
    jaxpr = known.jaxpr
    given = set(saved)
    eqns = [e for e in jaxpr.eqns if not given.issuperset(e.outvars)]
    outvars = jaxpr.outvars[split.num_known_outputs :]
    again = ClosedJaxpr(
        Jaxpr(jaxpr.constvars, [*saved, *jaxpr.invars], outvars, eqns), known.consts
    )
    m, n = len(saved), len(again.in_avals)
    unknown_avals = split.linear.in_avals[len(split.residuals) :]

    def run(*args: Any) -> list[Any]:
        returned = eval_jaxpr(again.jaxpr, again.consts, *args[:n])
        residuals = split.residual_values(args[m:n], returned)
        return eval_jaxpr(split.linear.jaxpr, split.linear.consts, *residuals, *args[n:])

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
