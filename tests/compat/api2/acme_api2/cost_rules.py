"""Rules of ``api2.cost`` for ``scan``, ``while``, ``cond`` and ``jit``, by their parameters."""

from dovetail_core import primitives

from .cost import cost, cost_rules


@cost_rules.register(primitives()["scan"])
def _scan(eqn):
    p = eqn.params
    carried = p["num_carry"]
    assert len(p["jaxpr"].in_avals) == len(eqn.invars) and isinstance(p["reverse"], bool)
    assert p["num_consts"] + carried <= len(eqn.invars) and p["unroll"] >= 1
    return p["length"] * cost(p["jaxpr"])


@cost_rules.register(primitives()["while"])
def _while(eqn):
    p = eqn.params
    carried = len(eqn.invars) - p["cond_nconsts"] - p["body_nconsts"]
    assert carried == len(eqn.outvars) == len(p["body_jaxpr"].out_avals)
    return cost(p["cond_jaxpr"]) + cost(p["body_jaxpr"])


@cost_rules.register(primitives()["cond"])
def _cond(eqn):
    branches = eqn.params["branches"]
    assert all(len(b.in_avals) == len(eqn.invars) - 1 for b in branches)
    return max(map(cost, branches))


@cost_rules.register(primitives()["jit"])
def _jit(eqn):
    p = eqn.params
    assert len(p["donated_invars"]) == len(eqn.invars) and isinstance(p["name"], str)
    return cost(p["jaxpr"])
