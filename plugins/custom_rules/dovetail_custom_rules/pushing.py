"""Differentiating a row without deciding yet whether the mode is forward or reverse.

The rule of ``ad.jvp`` binds the row ``pushforward``, from primals and nonzero tangents to results
and their tangents. Evaluated, it runs the rule of forward mode, or else the transpose of the
backward function. Met by linear unknowns it runs the forward function and records the linear row,
whose transpose is the backward function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import LinearTrace, jvp_values
from dovetail_core import (
    LiftTrace,
    Primitive,
    StagingTrace,
    Trace,
    get_trace,
    run_under,
    typeof,
)
from dovetail_core.types.algebra import zeros

from .elimination import pushed_dce_rule
from .flat import Backward, Flags, FlatRules, spread
from .linear_rows import linear_row, push_through
from .pushed_lifting import lift_pushed
from .reducing import reducible_linear
from .selection import lean_lowering
from .zeros import has_tangent, typed


def split_results(results: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Results and tangents (None for integers) of a pushforward, which stand in turns."""
    outs: list[Any] = []
    tangents: list[Any] = []
    rest = iter(results)
    for out in rest:
        outs.append(out)
        tangents.append(next(rest) if has_tangent(typeof(out)) else None)
    return outs, tangents


def join_results(outs: Sequence[Any], tangents: Sequence[Any], avals: Any) -> list[Any]:
    """Results and tangents in turns, zeros instantiated; ``avals`` are the results' where known."""
    found: list[Any] = []
    for i, (out, t) in enumerate(zip(outs, tangents)):
        found.append(out if avals is None else typed(out, avals[i]))
        aval = typeof(found[-1])
        if has_tangent(aval):
            want = aval.tangent_type()
            found.append(zeros(want) if t is None else typed(t, want))
    return found


def pushforward(row: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]) -> Primitive:
    """The pushforward of a row whose operands have tangents where ``mask`` says so."""
    program = params.get("program")
    if program is None:
        return _pushforward(row, rules, mask, params)
    key = "pushforward", mask
    return rules.derived(program, key, lambda: _pushforward(row, rules, mask, params))


def _pushforward(
    row: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Primitive:
    push = Primitive(f"{rules.name}_pushforward", multiple_results=True, anonymous=True)
    program: Any = params.get("program")
    avals = None if program is None else program.out_avals
    n = len(mask)

    @push.def_decomposition
    def run(*args: Any) -> list[Any]:
        primals, tangents = args[:n], spread(args[n:], mask)
        if rules.jvp is not None:
            outs, found = rules.jvp(primals, tangents)
        elif rules.vjp is not None:
            outs, residuals, token = rules.vjp.fwd(primals, mask)
            found = push_through(rules, token, residuals, [typeof(x) for x in outs], tangents)
        else:
            body: Any = row.decomposition
            outs, found = jvp_values(lambda *xs: body(*xs, **params), primals, tangents)
        return join_results(outs, found, avals)

    if program is not None:
        types = [
            b
            for a in program.out_avals
            for b in ((a, a.tangent_type()) if has_tangent(a) else (a,))
        ]
        push.def_effectful_abstract_eval(lambda *_: (types, program.effects))
    push.lift = lambda carrier, args, _: lift_pushed(push, row, rules, carrier, mask, args, params)
    push.rules = {
        "ad.partial_eval": _partial_eval(push, row, rules, mask, params),
        "backends.stablehlo": lean_lowering(push),
        "dce": pushed_dce_rule(push, row, rules, mask, params),
        "eval": run,
    }
    return push


def _partial_eval(
    push: Primitive, row: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Callable[..., Any]:
    def rule(trace: LinearTrace, args: Sequence[Any], _: dict[str, Any]) -> list[Any]:
        n = len(mask)
        primals, tangents = args[:n], args[n:]
        run: Any = push.decomposition
        if any(trace.owns(x) for x in primals):
            return run_under(trace, run, *args)
        if rules.vjp is not None:
            vjp = rules.vjp
            outs, residuals, token = _forward(row, rules, vjp, mask, primals, params)
            avals = [typeof(x) for x in outs]
            # A rule of forward mode evaluates the linear map, if that is done, at the primals.
            again = [] if rules.jvp is None else list(primals)
            linear = linear_row(rules, token, len(residuals), mask, avals)
            found = trace.record(linear, [*residuals, *again, *tangents], {})
        elif (
            rules.jvp is None
            and (is_staged(trace) or (rules.batch is not None and _is_mapped(trace)))
            and "program" in params
        ):
            outs = row.bind(*primals, **params)
            found = trace.record(reducible_linear(row, rules, mask, params), args, {})
        else:
            return run_under(trace, run, *args)
        return _in_turns(outs, found)

    return rule


def _forward(
    row: Primitive, rules: FlatRules, vjp: Backward, mask: Flags, primals: Sequence[Any],
    params: dict[str, Any],
) -> tuple[list[Any], list[Any], Any]:  # fmt: skip
    if vjp.lean and "program" in params and is_staged(get_trace()):
        from .forwarding import forward_row

        return forward_row(row, rules, vjp, mask, primals, params)
    outs, residuals, token = vjp.fwd(primals, mask)
    if "program" in params:
        outs = [typed(x, a) for x, a in zip(outs, params["program"].out_avals)]
    return outs, residuals, token


def _in_turns(outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    rest = iter(tangents)
    return [y for x in outs for y in ((x, next(rest)) if has_tangent(typeof(x)) else (x,))]


def _is_mapped(trace: Trace | None) -> bool:
    """Whether operations under ``trace`` meet a mapped axis, where rules of batching apply."""
    while trace is not None:
        if isinstance(trace, LiftTrace) and trace.carrier.has_instances:
            return True
        trace = trace.parent
    return False


def is_staged(trace: Trace | None) -> bool:
    """Whether operations under ``trace`` end in a program, where unused ones can be dropped."""
    while trace is not None and trace.parent is not None:
        if isinstance(trace, StagingTrace):
            return True
        trace = trace.parent
    return False
