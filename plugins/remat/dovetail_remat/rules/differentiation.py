"""Differentiation of checkpointed calls, and of the identities ``name`` and ``place``.

The known part of a call runs now and keeps the values that its policy allows; the second part is
recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import (
    LinearTrace,
    is_linear,
    jvp_rules,
    partial_eval_rules,
    split_program,
    transpose_program,
    transpose_rules,
)
from dovetail_core import ClosedJaxpr, mutable_values, rewriting, run_under

from ..effects import bind_discharged, touched
from ..parts import Parts, barriers, joined
from ..primitive import name_p, place_p, remat_p
from ..splitting import parts_of


@partial_eval_rules.register(remat_p)
def _remat_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Compute the known results and the values that the policy keeps; record a checkpointed call
    that computes the other residuals again, from those and the inputs, and then the linear part.

    References are discharged first. But if a rule that is applied now uses references, nothing is
    recomputed: it would read other contents.
    """
    unknown = tuple(trace.owns(x) for x in args)
    program: ClosedJaxpr = params["jaxpr"]
    now = split_program(program, unknown).known
    given = mutable_values.custom_rules_take_local(now) or (
        mutable_values.inputs_of_custom_rules(program) and touched(now)
    )
    if rewriting.mutable_constants(now) or given:
        return partial_eval_rules.fallback(remat_p)(trace, args, params)
    if params.get("effects") != "replay" and touched(program):
        rest = {k: v for k, v in params.items() if k != "jaxpr"}
        return run_under(trace, bind_discharged, program, args, rest)
    barrier = barriers(params["prevent_cse"], len(args))
    known = [x for x, u in zip(args, unknown) if not u]
    known_barrier = tuple(b for b, u in zip(barrier, unknown) if not u)
    parts = parts_of(params["jaxpr"], unknown, params["policy"], params.get("effects") == "replay")
    forward = {**params, "jaxpr": parts.forward, "prevent_cse": joined(known_barrier)}
    result = rewriting.bind_rewritten(remat_p, known, forward)
    n = parts.num_results
    if not any(parts.out_unknown):
        return result[:n]
    given = [*_in_memories(parts, result[n:]), *known]
    given_barrier = [True] * len(parts.kept) + [*known_barrier]
    unknowns = [x for x in args if trace.owns(x)]
    outs = parts.record(trace, given, given_barrier, unknowns, params)
    return parts.merge(result[:n], outs)


def _in_memories(parts: Parts, values: Sequence[Any]) -> list[Any]:
    """Kept values, moved to the memories that the policy names."""
    return [
        x if where is None else place_p.bind(x, src=where.src, dst=where.dst)
        for x, where in zip(values, parts.kept)
    ]


@transpose_rules.register(remat_p)
def _remat_transpose(
    cotangents: Sequence[Any], *args: Any, prevent_cse: Any, **params: Any
) -> list[Any]:
    """Transpose the program, which includes the second computation of values that were not kept."""
    linear = tuple(is_linear(x) for x in args)
    given = tuple(ct is not None for ct in cotangents)
    transposed, nonzero = transpose_program(params["jaxpr"], linear, given)
    values = [x for x, live in zip(args, linear) if not live]
    cts = [ct for ct in cotangents if ct is not None]
    flags = barriers(prevent_cse, len(args))
    late = any(b for b, live in zip(flags, linear) if live)
    barrier = [b for b, live in zip(flags, linear) if not live] + [late] * len(cts)
    params = {**params, "jaxpr": transposed, "prevent_cse": joined(barrier)}
    result = iter(rewriting.bind_rewritten(remat_p, [*values, *cts], params))
    have = iter(nonzero)
    return [next(result) if live and next(have) else None for live in linear]


@jvp_rules.register(name_p)
def _name_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, name: str) -> tuple[Any, Any]:
    return name_p.bind(primals[0], name=name), tangents[0]


@jvp_rules.register(place_p)
def _memory_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, src: str, dst: str
) -> tuple[Any, Any]:
    """A tangent is as large as its primal, and is kept as long."""
    out, tangent = (place_p.bind(x, src=src, dst=dst) for x in (primals[0], tangents[0]))
    return out, tangent


@transpose_rules.register(place_p)
def _memory_transpose(cotangent: Any, x: Any, *, src: str, dst: str) -> list[Any]:
    return [place_p.bind(cotangent, src=dst, dst=src) if is_linear(x) else None]
