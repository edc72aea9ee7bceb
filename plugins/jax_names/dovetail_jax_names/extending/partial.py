"""Tracing by hand: all at once, or only what depends on unknown values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import partial_eval_rules
from dovetail_base.wrapping import alias
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Primitive,
    RegionInterface,
    StagedTracer,
    StagingTrace,
    Trace,
    dce_closed,
    dce_jaxpr as kernel_dce_jaxpr,
    dce_rules as kernel_dce_rules,
    eval_jaxpr,
    get_trace,
    run_under,
    stage,
    typeof,
)

from .functions import WrappedFun
from .views import Rule, RuleView, as_it_is


class PartialVal(tuple[Any, Any]):
    """A value that is known, ``(None, value)``, or of which the type is known, ``(type, None)``."""

    __slots__ = ()

    def __new__(cls, pair: tuple[AbstractValue | None, Any]) -> PartialVal:
        aval, value = pair
        if aval is not None and value is not None:
            raise ValueError(f"a partial value has a type or a value, got both: {pair}")
        return super().__new__(cls, (aval, value))

    @classmethod
    def known(cls, value: Any) -> PartialVal:
        """A known value."""
        return cls((None, value))

    @classmethod
    def unknown(cls, aval: AbstractValue) -> PartialVal:
        """An unknown value of a type."""
        return cls((aval, None))

    def is_known(self) -> bool:
        """True if the value is known."""
        return self[0] is None

    def get_known(self) -> Any:
        """The value where it is known, else None."""
        return self[1]

    def get_aval(self) -> AbstractValue:
        """The type."""
        return typeof(self[1]) if self[0] is None else self[0]


class _OfPartialTraces(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return instance.__class__ is StagedTracer and isinstance(instance._trace, PartialTrace)


class JaxprTracer(StagedTracer, metaclass=_OfPartialTraces):
    """A value that is unknown to :func:`trace_to_jaxpr_nounits`; made by it alone."""

    __slots__ = ()


class PartialTrace(StagingTrace):
    """Records what depends on unknown values; all else its parent computes."""

    __slots__ = ()
    computes = True

    @property
    def what(self) -> str:  # type: ignore[override]
        return "partial evaluation"

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        parent: Trace | None = self.parent
        assert parent is not None
        if not any(x.__class__ is StagedTracer and x._trace is self for x in args):
            return run_under(parent, parent.process, primitive, args, params)
        if primitive.regions is not None and primitive.rules is None:
            interface: RegionInterface = primitive.regions(params)
            if not interface.is_loop and not interface.is_choice and self._may_open(interface):
                (region,) = interface.regions
                inner = region.program
                operands = [args[i] for i in region.operands]
                outs = eval_jaxpr(inner.jaxpr, inner.consts, *operands)
                return [outs[region.results.index(i)] for i in range(len(outs))]
        return super().process(primitive, args, params)

    def _may_open(self, interface: RegionInterface) -> bool:
        """True if a call's operations may be seen one by one, so that known ones are computed."""
        return len(interface.regions) == 1 and not interface.regions[0].program.effects

    def owns(self, x: Any) -> bool:
        """True if a value depends on unknown ones."""
        return x.__class__ is StagedTracer and x._trace is self


def _adopt_split(primitive: Primitive, rule: Rule) -> Rule:
    return lambda trace, args, params: rule(trace, *args, **params)


def _present_split(primitive: Primitive, rule: Rule) -> Rule:
    return lambda trace, *args, **params: rule(trace, args, params)


custom_partial_eval_rules = RuleView(partial_eval_rules, _adopt_split, _present_split)
"""``rule(trace, *args, **params)`` computes what is known of an operation on linear unknowns, and
records the rest: ``trace.record(primitive, args, params)``."""

dce_rules = RuleView(kernel_dce_rules, as_it_is, as_it_is)
"""``rule(used_outputs, eqn)`` returns which operands it needs, and the reduced equation or None."""


def dce_jaxpr_call_rule(used_outputs: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """The rule of an operation that calls the program ``call_jaxpr`` on its operands."""
    if not any(used_outputs) and not eqn.effects:
        return [False] * len(eqn.invars), None
    called = eqn.params["call_jaxpr"]
    if isinstance(called, ClosedJaxpr):
        reduced, needed = dce_closed(called, used_outputs)
    else:
        reduced, needed = dce_jaxpr(called, used_outputs)
    return needed, eqn.replace(
        invars=[x for x, n in zip(eqn.invars, needed) if n],
        outvars=[v for v, u in zip(eqn.outvars, used_outputs) if u],
        params={**eqn.params, "call_jaxpr": reduced},
        effects=reduced.effects,
    )


dce_jaxpr_closed_call_rule = alias(dce_jaxpr_call_rule, "dce_jaxpr_closed_call_rule")


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], tuple[Any, ...]]:
    """Compute what can be computed of a function of known and unknown values, record the rest.

    Args:
        instantiate: results that are to come out of the program even if they are known.

    Returns: the program of the unknown results, whose constants are known values; the results, each
    known or of a type; the values of the constants.
    """
    trace = PartialTrace(get_trace(), fun.debug_info.func_name)
    inputs = [None if p.is_known() else trace.new_input(p.get_aval()) for p in pvals]
    args = [p.get_known() if x is None else x for p, x in zip(pvals, inputs)]
    try:
        outs = list(run_under(trace, fun.call_wrapped, *args))
        forced = [instantiate] * len(outs) if isinstance(instantiate, bool) else list(instantiate)
        unknown = [trace.owns(x) or f for x, f in zip(outs, forced)]
        jaxpr, consts = trace.finish(
            [x for x in inputs if x is not None], [x for x, u in zip(outs, unknown) if u]
        )
    finally:
        trace.ended = True
    result = [
        PartialVal.unknown(typeof(x)) if u else PartialVal.known(x) for x, u in zip(outs, unknown)
    ]
    return (*_needed(jaxpr, result, consts),)


def _needed(
    jaxpr: Jaxpr, outs: list[PartialVal], consts: Sequence[Any]
) -> tuple[Jaxpr, list[PartialVal], tuple[Any, ...]]:
    """The program without what no result needs."""
    reduced, _ = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    used = {v for e in reduced.eqns for v in e.invars} | set(reduced.outvars)
    kept = [v in used for v in reduced.constvars]
    reduced = reduced.replace(constvars=[v for v, k in zip(reduced.constvars, kept) if k])
    return reduced, outs, tuple([c for c, k in zip(consts, kept) if k])


def trace_to_jaxpr_dynamic(
    fun: WrappedFun,
    in_avals: Sequence[AbstractValue],
    *,
    keep_inputs: list[bool] | None = None,
    lower: bool = False,
    auto_dce: bool = False,
) -> tuple[Jaxpr, list[AbstractValue], list[Any]]:
    """Record a function on types.

    Args:
        keep_inputs: the inputs of the program that the function takes; by default all.
        auto_dce: leave out what no result needs.

    Returns: the program, the types of its results, the values of its constants.
    """
    taken = [True] * len(in_avals) if keep_inputs is None else keep_inputs

    def flat(*xs: Any) -> Sequence[Any]:
        return fun.call_wrapped(*[x for x, k in zip(xs, taken) if k])

    jaxpr, consts = stage(flat, in_avals, fun.debug_info.func_name)
    if auto_dce:
        jaxpr, _ = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    return jaxpr, jaxpr.out_avals, consts


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """The program without what the used results do not need, and which of its inputs are left:
    all those for which ``instantiate`` says so, and what is needed."""
    keep = instantiate if isinstance(instantiate, bool) else list(instantiate)
    return kernel_dce_jaxpr(jaxpr, used_outputs, keep)


def dce_jaxpr_consts(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool], list[bool]]:
    """The program without what the used results do not need; which of its constants and which of
    its inputs are left."""
    reduced, left = dce_jaxpr(jaxpr, used_outputs, instantiate)
    used = {v for e in reduced.eqns for v in e.invars} | set(reduced.outvars)
    consts = [v in used for v in reduced.constvars]
    constvars = [v for v, u in zip(reduced.constvars, consts) if u]
    return reduced.replace(constvars=constvars), consts, left
