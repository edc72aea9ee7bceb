"""Counting the operations of a program, each alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_core import ClosedJaxpr, Eqn, Var

from .cost import Nested, cost_rules, nbytes
from .flow import Flow
from .results import RooflineResult, RooflineRuleContext, roofline_rules, shapes_of


class Options(NamedTuple):
    """See :func:`roofline`."""

    mesh: Any = None
    pin_lhs_in_vmem: bool = False
    pin_rhs_in_vmem: bool = False


def count(program: ClosedJaxpr, options: Options) -> RooflineResult:
    """The counts of a program: sums over its operations, and the most memory that they need."""
    result = RooflineResult(peak_hbm_bytes=_peak(program))
    flow = Flow()
    for eqn in program.eqns:
        result += _operation(eqn, flow, options)
    return result


def _operation(eqn: Eqn, flow: Flow, options: Options) -> RooflineResult:
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    own = roofline_rules.get(eqn.primitive)
    if own is not None:
        context = RooflineRuleContext(
            name_stack=eqn.source.scope if eqn.source else "",
            primitive=eqn.primitive,
            avals_in=ins,
            avals_out=outs,
            jaxpr_eqn_ctx=None,
            **options._asdict(),
        )
        return own(context, *shapes_of(ins), **eqn.params)
    cost = cost_rules[eqn.primitive](ins, outs, **eqn.params)
    if isinstance(cost, Nested):
        return _nested(cost, options)
    flow.add(eqn, cost)
    moved = sum(flow.traffic([(eqn, cost)], lambda v: True))
    work = int(cost.flops + cost.transcendentals)
    return RooflineResult(unfused_flops=work, unfused_hbm_bytes=int(moved))


def _nested(cost: Nested, options: Options) -> RooflineResult:
    """Of branches that with the most bytes and operations counts."""
    each = [count(p, options) for p in cost.programs]
    if cost.choice:
        each = [max(each, key=lambda r: (r.unfused_hbm_bytes, r.unfused_flops))]
    total = sum(each, RooflineResult())
    return total.times(1 if cost.times is None else cost.times)


def _peak(program: ClosedJaxpr) -> int:
    """The most bytes that are alive before the first operation, between two, or after the last."""
    jaxpr = program.jaxpr
    uses = Counter(_variables(jaxpr.outvars))
    for eqn in jaxpr.eqns:
        uses.update(_variables(eqn.invars))
    alive = {v for v in (*jaxpr.constvars, *jaxpr.invars) if uses[v]}
    peak = sum(nbytes(v.aval) for v in alive)
    for eqn in jaxpr.eqns:
        uses.subtract(_variables(eqn.invars))
        alive.update(v for v in eqn.outvars if uses[v])
        alive -= {v for v in _variables(eqn.invars) if not uses[v]}
        peak = max(peak, sum(nbytes(v.aval) for v in alive))
    return peak


def _variables(values: Sequence[Any]) -> list[Any]:
    return [x for x in values if isinstance(x, Var)]
