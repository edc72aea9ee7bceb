"""The laws of the rule tables of costs."""

from __future__ import annotations

from math import isfinite

from dovetail_testing import Sample, law
from dovetail_testing.kernel_laws import staged

from .cost import Nested, cost_rules, nbytes
from .counting import Flow, Options, count


@law("operation_cost", mixed=False)
def cost_law(sample: Sample) -> None:
    """Costs are finite and not negative; an operation that holds no programs writes no more than
    twice its results and what it is given."""
    flow = Flow()
    for eqn in staged(sample).eqns:
        ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
        cost = cost_rules[eqn.primitive](ins, outs, **eqn.params)
        if isinstance(cost, Nested):
            continue
        flow.add(eqn, cost)
        read, written = flow.traffic([(eqn, cost)], lambda v: True)
        for n in (cost.flops, cost.transcendentals, read, written):
            assert isfinite(n) and n >= 0, f"{n} in {cost}"
        most = 2 * sum(map(nbytes, (*ins, *outs)))
        assert written <= most, f"{written} bytes are written by {eqn.primitive.name}"


@law("roofline", mixed=False)
def roofline_law(sample: Sample) -> None:
    """Counts are not negative, and what is counted of products is not more than of everything."""
    result = count(staged(sample), Options())
    assert 0 <= result.flops <= result.unfused_flops, f"{result}"
    assert 0 <= result.hbm_bytes <= result.unfused_hbm_bytes, f"{result}"
    assert result.peak_hbm_bytes >= 0, f"{result}"
