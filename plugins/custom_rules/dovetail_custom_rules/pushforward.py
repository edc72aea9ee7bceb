"""Differentiation of a primitive before it is known whether the mode is forward or reverse.

The rule of ``ad.jvp`` binds the pushforward, from primals and nonzero tangents to results and their
tangents. On arrays it runs the rule of forward mode, or else the transpose of the backward
function. On linear unknowns it runs the forward function and records the linear primitive, whose
transpose is the backward function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from dovetail_ad import (
    define_pushforward,
    deinterleaved,
    has_tangent,
    interleaved,
    interleaved_types,
    jvp_values,
    typed,
)
from dovetail_base.options import traced_under
from dovetail_core import (
    Eqn,
    LiftTrace,
    Primitive,
    StagingTrace,
    Trace,
    Traits,
    UnexpectedTracerError,
    Var,
    effects,
    get_trace,
    lift_call,
    stage_closed,
    typeof,
)

from .dce import Reduced, dce_rule, lean_lowering, reduction, selected
from .derivative_calls import define
from .flat_rules import Backward, Flags, FlatRules, body_of, pick, spread, varying_beyond
from .lifting import lift_primitive
from .primitive import program_primitive
from .reverse import (
    forward_primitive,
    linear_primitive,
    reducible_linear,
    tangents_by_transposition,
)


def lift_pushed(
    push: Primitive, primitive: Primitive, rules: FlatRules, carrier: Any, mask: Flags,
    args: Sequence[Any], params: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """Apply a pushforward to lifted operands.

    If tangents are lifted like their primals, and are lifted tangents, it is the pushforward of the
    lifted primitive. Otherwise its operations are lifted, so that primals that are not lifted, as
    under ``jacfwd``, are computed once.
    """
    n = len(mask)
    ins = [carrier.structure(v, 0) for v in args]
    tangents = spread(ins[n:], mask)
    alike = all(t is None or carrier.join_structures(p, t) == p for p, t in zip(ins, tangents))
    if carrier.has_instances and alike:
        return _pushforward_of_lifted(primitive, carrier, mask, args, params)
    if rules.differentiates or rules.reduce is None or body_of(params) is None:
        run: Any = push.decomposition
        return lift_call(carrier, run, args)
    return _lift_as_primitive(push, rules, carrier, mask, args, params)


def _pushforward_of_lifted(
    primitive: Primitive, carrier: Any, mask: Flags, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    n = len(mask)
    tangents = spread(args[n:], mask)
    ins = [carrier.structure(p, 0) for p in args[:n]]
    outs: list[Any] = []

    def of_arrays(*arrays: Any) -> list[Any]:
        values = [carrier.value([x], s, 0) for x, s in zip(arrays, ins)]
        # Through the carrier's trace: a primitive may have a rule of its own in its table.
        result = lift_call(carrier, lambda *xs: primitive.bind(*xs, **params), values)
        outs[:] = [carrier.structure(v, 0) for v in result]
        return [carrier.arrays(v, s, 0)[0] for v, s in zip(result, outs)]

    primals = [carrier.arrays(v, s, 0)[0] for v, s in zip(args, ins)]
    dots = [None if t is None else carrier.arrays(t, s, 0)[0] for t, s in zip(tangents, ins)]
    results, result = jvp_values(of_arrays, primals, dots)
    joined = interleaved(results, result)
    each = [s for s, x in zip(outs, results) for _ in range(1 + has_tangent(typeof(x)))]
    return [carrier.value([x], s, 0) for x, s in zip(joined, each)]


def _lift_as_primitive(
    push: Primitive, rules: FlatRules, carrier: Any, mask: Flags, args: Sequence[Any],
    params: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """A pushforward of a body that its author says how to reduce, as a primitive with that rule."""

    def make() -> tuple[Primitive, FlatRules, Any]:
        run: Any = push.decomposition
        program = stage_closed(run, [carrier.aval(v) for v in args], push.name)
        reduce = _pushed_reduce(rules, mask, body_of(params).out_avals)
        own = FlatRules(push.name, rules.origin, ("",) * len(args), reduce=reduce)
        return program_primitive(own), own, program

    primitive, own, program = rules.derived(body_of(params), ("lifted pushforward", mask), make)
    return lift_primitive(primitive, own, carrier, args, {"program": program})


def _pushed_reduce(
    rules: FlatRules, mask: Flags, avals: Sequence[Any]
) -> Callable[[Flags], Callable[..., list[Any]]]:
    reduce: Any = rules.reduce
    n = len(mask)

    def reduced(used: Flags) -> Callable[..., list[Any]]:
        rest = iter(used)
        each = [[next(rest) for _ in range(1 + has_tangent(a))] for a in avals]
        wanted = tuple(any(flags) for flags in each)
        f = reduce(wanted)

        def run(*args: Any) -> list[Any]:
            outs, tangents = jvp_values(f, args[:n], spread(args[n:], mask))
            result = interleaved([typed(x, a) for x, a in zip(outs, pick(avals, wanted))], tangents)
            return pick(result, [u for flags in pick(each, wanted) for u in flags])

        return run

    return reduced


def pushforward(
    primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Primitive:
    """The pushforward of a primitive whose operands marked in ``mask`` have tangents."""
    program = body_of(params)
    if program is None:
        return _pushforward(primitive, rules, mask, params)
    key = "pushforward", mask
    return rules.derived(program, key, lambda: _pushforward(primitive, rules, mask, params))


def _pushforward(
    primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Primitive:
    push = Primitive(f"{rules.name}_pushforward", multiple_results=True, anonymous=True)
    linearization = _Linearization(primitive, rules, mask, params)
    define_pushforward(push, lambda _: (linearization, mask, params))
    program: Any = body_of(params)
    if program is not None:
        types = interleaved_types(program.out_avals)
        push.def_effectful_abstract_eval(lambda *_: (types, program.effects))
        push.traits = Traits(varies=varying_beyond(program.in_avals))
    this: Any = ref(push)
    push.lift = lambda carrier, args, _: linearization.under.run(
        lift_pushed, this(), primitive, rules, carrier, mask, args, params
    )
    push.rules = {
        **(push.rules or {}),
        "backends.stablehlo": lean_lowering(push),
        "dce": pushed_dce_rule(push, primitive, rules, mask, params),
        "eval": push.decomposition,  # type: ignore[dict-item]
    }
    return push


class _Linearization:
    """The linearization of a custom function: see ``dovetail_ad.pushforwards``.

    Its rules run under the options and user contexts of the moment at which it was made, when the
    function was differentiated, whenever the pushforward is evaluated.
    """

    def __init__(
        self, primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
    ) -> None:
        self.primitive = primitive
        self.rules = rules
        self.mask = mask
        self.under = traced_under()
        program = body_of(params)
        self.avals = None if program is None else program.out_avals

    def at_types(self, outs: Sequence[Any]) -> Sequence[Any]:
        """Results of a rule, converted to the types of the function's results if known."""
        return outs if self.avals is None else [typed(x, a) for x, a in zip(outs, self.avals)]

    def forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Values and tangents by the rule of forward mode, else by the backward function, else by
        the body."""
        return self.under.run(self._forward, primals, tangents, params)

    def _forward(
        self, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        rules = self.rules
        if rules.jvp is not None:
            outs, result = rules.jvp(primals, tangents)
        elif rules.vjp is not None:
            outs, residuals, token = rules.vjp.fwd(primals, self.mask)
            avals = [typeof(x) for x in outs]
            result = tangents_by_transposition(rules, token, residuals, avals, tangents)
        else:
            body: Any = self.primitive.decomposition
            outs, result = jvp_values(lambda *xs: body(*xs, **params), primals, tangents)
        return self.at_types(outs), result

    def split(
        self, nonzero: Sequence[bool], primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Callable[..., list[Any]]] | None:
        """Values by the forward function, if there is one; the backward one is the transpose."""
        return self.under.run(self._split, primals, params)

    def _split(
        self, primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Callable[..., list[Any]]] | None:
        rules = self.rules
        if rules.vjp is not None:
            outs, residuals, token = self.forward_part(rules.vjp, primals, params)
            avals = [typeof(x) for x in outs]
            own = [typeof(x) for x in (*residuals, *primals)]
            linear = linear_primitive(rules, token, len(residuals), self.mask, avals, own)
            # A rule of forward mode evaluates the linear map, if it is evaluated, at the primals.
            known = [*residuals, *([] if rules.jvp is None else primals)]
        elif rules.jvp is None and body_of(params) is not None and self.keeps_call():
            outs = self.primitive.bind(*primals, **params)
            avals = [typeof(x) for x in outs]
            linear = reducible_linear(self.primitive, rules, self.mask, params)
            known = list(primals)
        else:
            return None

        def on_tangents(*tangents: Any) -> list[Any]:
            result = linear.bind(*known, *pick(tangents, self.mask))
            return spread(result, [has_tangent(a) for a in avals])

        return outs, on_tangents

    def keeps_call(self) -> bool:
        """True if rules of dead code or of batching may still be used for the linear part."""
        trace = get_trace()
        return is_staged(trace) or (self.rules.batch is not None and _is_mapped(trace))

    def forward_part(
        self, vjp: Backward, primals: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], list[Any], Any]:
        """Results, residuals and token of the forward function."""
        if vjp.lean and body_of(params) is not None and is_staged(get_trace()):
            return forward_primitive(self.primitive, self.rules, vjp, self.mask, primals, params)
        outs, residuals, token = vjp.fwd(primals, self.mask)
        return self.at_types(outs), residuals, token


def _is_mapped(trace: Trace | None) -> bool:
    """True if operations under ``trace`` are batched, so that rules of batching apply."""
    while trace is not None:
        if isinstance(trace, LiftTrace) and trace.carrier.has_instances:
            return True
        trace = trace.parent
    return False


def is_staged(trace: Trace | None) -> bool:
    """True if operations under ``trace`` are staged, so that unused ones can be dropped."""
    while trace is not None and trace.parent is not None:
        if isinstance(trace, StagingTrace):
            return True
        trace = trace.parent
    return False


def pushed_dce_rule(
    push: Primitive, primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Callable[..., Reduced]:
    """The rule of ``dce`` of a pushforward: without tangents it becomes the primitive, and if the
    derivative is that of the body, the function is reduced first."""
    program: Any = body_of(params)
    this: Any = ref(push)

    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not effects.must_be_kept(eqn.effects):
            return [False] * len(eqn.invars), None
        if eqn.effects:
            return [True] * len(eqn.invars), eqn
        avals = program.out_avals
        outs, tangents = _split_interleaved(avals, used)
        result_vars, tangent_vars = _split_interleaved(avals, eqn.outvars)
        n = len(mask)
        if not any(tangents):
            plain = eqn.replace(
                primitive=primitive, invars=eqn.invars[:n], outvars=result_vars, params=params
            )
            needs, reduced = dce_rule(rules)(outs, plain)
            return [*needs, *[False] * (len(eqn.invars) - n)], reduced
        wanted = tuple(bool(o or t) for o, t in zip(outs, tangents))
        result = None if rules.differentiates else reduction(rules, program, wanted)
        every = [True] * len(eqn.invars)
        if result is None and all(used):
            return every, eqn
        if result is None:
            smaller = selected(this(), tuple(used))
            return every, eqn.replace(primitive=smaller, outvars=pick(eqn.outvars, used))
        left = tuple(pick(mask, result.needed))
        smaller = pushforward(result.primitive, result.rules, left, {"program": result.program})
        needed = [*result.needed, *pick(result.needed, mask)]
        variables: list[Var] = []
        for w, o, t in zip(wanted, result_vars, tangent_vars):
            variables += [x for x in (o, t) if w and x is not None]
        return needed, eqn.replace(
            primitive=smaller, invars=pick(eqn.invars, needed), outvars=variables, params={}
        )

    return rule


def _split_interleaved(avals: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The values for results and those for tangents (None for integers) in interleaved values."""
    rest = iter(values)
    pairs = [(next(rest), next(rest) if has_tangent(a) else None) for a in avals]
    return [x for x, _ in pairs], [t for _, t in pairs]


def _jvp_rule(primitive: Primitive, rules: FlatRules) -> Callable[..., Any]:
    this: Any = ref(primitive)

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        return _differentiated(this(), rules, primals, tangents, params)

    return rule


def _differentiated(
    primitive: Primitive, rules: FlatRules, primals: Sequence[Any], tangents: Sequence[Any],
    params: dict[str, Any],
) -> tuple[Any, Any]:  # fmt: skip
    """Results and tangents of a call."""
    if rules.differentiates:
        refuse_fixed(rules, tangents)
    if rules.jvp is not None and rules.vjp is None:
        return rules.jvp(primals, tangents)
    mask = tuple([t is not None for t in tangents])
    pushed = pushforward(primitive, rules, mask, params)
    return deinterleaved(pushed.bind(*primals, *(t for t in tangents if t is not None)))


def _jvp_of_call(primitive: Any) -> Callable[..., Any]:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        return _differentiated(primitive, primitive.rules_of(params), primals, tangents, params)

    return rule


define("ad.jvp", _jvp_of_call)


def refuse_fixed(rules: FlatRules, tangents: Sequence[Any]) -> None:
    """Refuse tangents of operands that derivative rules do not cover.

    Raises:
        UnexpectedTracerError: there is one; names the function and the operand.
    """
    for what, t in zip(rules.fixed, tangents):
        if what and t is not None:
            raise UnexpectedTracerError(
                f"{rules.name} is differentiated with respect to {what}, but its custom rule only "
                "says how to differentiate with respect to its arguments. Pass the value as an "
                "argument that the rule differentiates, or apply stop_gradient to it."
            )


def differentiation_rules(primitive: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    """The rule of ``ad.jvp``; none if the body is differentiated."""
    own = rules.reduce is not None or rules.batch is not None
    if rules.differentiates or (own and primitive.regions is not None and rules.transpose is None):
        return {"ad.jvp": _jvp_rule(primitive, rules)}
    return {}
