"""Rules of ``dce``: what a branch takes and does not use is left out."""

from __future__ import annotations

from dovetail_core import Eqn, dce_rules

from ...primitives.branches import taken_p


@dce_rules.register(taken_p)
def _taken(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used):
        return [False] * (1 + len(used)), None
    index, *operands = eqn.invars
    places = tuple([p for p, u in zip(eqn.params["places"], used) if u])
    kept = eqn.replace(
        invars=[index, *[v for v, u in zip(operands, used) if u]],
        outvars=[v for v, u in zip(eqn.outvars, used) if u],
        params={**eqn.params, "places": places},
    )
    return [True, *used], kept
