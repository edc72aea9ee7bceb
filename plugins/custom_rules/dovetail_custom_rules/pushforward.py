"""Differentiating a primitive without deciding yet whether the mode is forward or reverse.

The rule of ``ad.jvp`` binds the pushforward, from primals and nonzero tangents to results and their
tangents. Evaluated, it runs the rule of forward mode, or else the transpose of the backward
function. Met by linear unknowns it runs the forward function and records the linear primitive, whose
transpose is the backward function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import LinearTrace, jvp_values
from dovetail_core import (
    Eqn,
    InstanceCarrier,
    LiftTrace,
    Primitive,
    StagingTrace,
    Trace,
    UnexpectedTracerError,
    Var,
    get_trace,
    run_under,
    typeof,
)
from dovetail_core.types.effects import lasting

from .dce import Reduced, dce_rule, lean_lowering, reduction, selected
from .flat import Backward, Flags, FlatRules, pick, spread
from .pullback import reducible_linear
from .pushforward_lifting import lift_pushed
from .reverse import forward_primitive, linear_primitive, tangents_by_transposition
from .zeros import has_tangent, join_results, split_results, typed


def pushforward(
    primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Primitive:
    """The pushforward of a primitive whose operands have tangents where ``mask`` says so."""
    program = params.get("program")
    if program is None:
        return _pushforward(primitive, rules, mask, params)
    key = "pushforward", mask
    return rules.derived(program, key, lambda: _pushforward(primitive, rules, mask, params))


def _pushforward(
    primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
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
            found = tangents_by_transposition(
                rules, token, residuals, [typeof(x) for x in outs], tangents
            )
        else:
            body: Any = primitive.decomposition
            outs, found = jvp_values(lambda *xs: body(*xs, **params), primals, tangents)
        return join_results(outs, found, avals)

    if program is not None:
        types = [
            b
            for a in program.out_avals
            for b in ((a, a.tangent_type()) if has_tangent(a) else (a,))
        ]
        push.def_effectful_abstract_eval(lambda *_: (types, program.effects))
    push.lift = lambda carrier, args, _: lift_pushed(
        push, primitive, rules, carrier, mask, args, params
    )
    push.rules = {
        "ad.partial_eval": _partial_eval(push, primitive, rules, mask, params),
        "backends.stablehlo": lean_lowering(push),
        "dce": pushed_dce_rule(push, primitive, rules, mask, params),
        "eval": run,
    }
    return push


def _partial_eval(
    push: Primitive, primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Callable[..., Any]:
    def rule(trace: LinearTrace, args: Sequence[Any], _: dict[str, Any]) -> list[Any]:
        n = len(mask)
        primals, tangents = args[:n], args[n:]
        run: Any = push.decomposition
        if any(trace.owns(x) for x in primals):
            return run_under(trace, run, *args)
        if rules.vjp is not None:
            vjp = rules.vjp
            outs, residuals, token = _forward(primitive, rules, vjp, mask, primals, params)
            avals = [typeof(x) for x in outs]
            # A rule of forward mode evaluates the linear map, if that is done, at the primals.
            again = [] if rules.jvp is None else list(primals)
            linear = linear_primitive(rules, token, len(residuals), mask, avals)
            found = trace.record(linear, [*residuals, *again, *tangents], {})
        elif (
            rules.jvp is None
            and (is_staged(trace) or (rules.batch is not None and _is_mapped(trace)))
            and "program" in params
        ):
            outs = primitive.bind(*primals, **params)
            found = trace.record(reducible_linear(primitive, rules, mask, params), args, {})
        else:
            return run_under(trace, run, *args)
        return _in_turns(outs, found)

    return rule


def _forward(
    primitive: Primitive, rules: FlatRules, vjp: Backward, mask: Flags, primals: Sequence[Any],
    params: dict[str, Any],
) -> tuple[list[Any], list[Any], Any]:  # fmt: skip
    if vjp.lean and "program" in params and is_staged(get_trace()):
        return forward_primitive(primitive, rules, vjp, mask, primals, params)
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
        if isinstance(trace, LiftTrace) and isinstance(trace.carrier, InstanceCarrier):
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


def pushed_dce_rule(
    push: Primitive, primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Callable[..., Reduced]:
    """The rule of ``dce`` of a pushforward: without the tangents it is the primitive, and where the
    derivative is the body's, the function is reduced first."""
    program: Any = params.get("program")

    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not lasting(eqn.effects):
            return [False] * len(eqn.invars), None
        if eqn.effects:
            return [True] * len(eqn.invars), eqn
        avals = program.out_avals
        outs, tangents = _apart(avals, used)
        result_vars, tangent_vars = _apart(avals, eqn.outvars)
        n = len(mask)
        if not any(tangents):
            plain = eqn.replace(
                primitive=primitive, invars=eqn.invars[:n], outvars=result_vars, params=params
            )
            needs, reduced = dce_rule(rules)(outs, plain)
            return [*needs, *[False] * (len(eqn.invars) - n)], reduced
        wanted = tuple(bool(o or t) for o, t in zip(outs, tangents))
        found = None if rules.differentiates else reduction(rules, program, wanted)
        every = [True] * len(eqn.invars)
        if found is None and all(used):
            return every, eqn
        if found is None:
            smaller = selected(push, tuple(used))
            return every, eqn.replace(primitive=smaller, outvars=pick(eqn.outvars, used))
        left = tuple(pick(mask, found.needed))
        smaller = pushforward(found.primitive, found.rules, left, {"program": found.program})
        needed = [*found.needed, *pick(found.needed, mask)]
        variables: list[Var] = []
        for w, o, t in zip(wanted, result_vars, tangent_vars):
            variables += [x for x in (o, t) if w and x is not None]
        return needed, eqn.replace(
            primitive=smaller, invars=pick(eqn.invars, needed), outvars=variables, params={}
        )

    return rule


def _apart(avals: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """What stands for results and for their tangents (None for integers) among values in turns."""
    rest = iter(values)
    pairs = [(next(rest), next(rest) if has_tangent(a) else None) for a in avals]
    return [x for x, _ in pairs], [t for _, t in pairs]


def _jvp_rule(primitive: Primitive, rules: FlatRules) -> Callable[..., Any]:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        if rules.differentiates:
            refuse_fixed(rules, tangents)
        if rules.jvp is not None and rules.vjp is None:
            return rules.jvp(primals, tangents)
        mask = tuple(t is not None for t in tangents)
        pushed = pushforward(primitive, rules, mask, params)
        return split_results(pushed.bind(*primals, *(t for t in tangents if t is not None)))

    return rule


def refuse_fixed(rules: FlatRules, tangents: Sequence[Any]) -> None:
    """Raise for a tangent of something that derivative rules know nothing of.

    Raises:
        UnexpectedTracerError: names the function and what it is.
    """
    for what, t in zip(rules.fixed, tangents):
        if what and t is not None:
            raise UnexpectedTracerError(
                f"{rules.name} is differentiated with respect to {what}, but its custom rule only "
                "says how to differentiate with respect to its arguments. Pass the value as an "
                "argument that the rule differentiates, or apply stop_gradient to it."
            )


def differentiation_rules(primitive: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    """The rule of ``ad.jvp``, but where the body is differentiated as it is."""
    own = rules.reduce is not None or rules.batch is not None
    if rules.differentiates or (own and primitive.form is not None and rules.transpose is None):
        return {"ad.jvp": _jvp_rule(primitive, rules)}
    return {}
