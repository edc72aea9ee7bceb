"""Rules of ``dce``: unused results of ``taken``, and of sorts, are left out."""

from __future__ import annotations

from dovetail_core import Eqn, dce_rules

from ..primitives.sorting import sort_p
from ..primitives.taken import taken_p


@dce_rules.register(taken_p)
def _taken(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used):
        return [False] * (1 + len(used)), None
    index, *operands = eqn.invars
    positions = tuple([p for p, u in zip(eqn.params["positions"], used) if u])
    kept = eqn.replace(
        invars=[index, *[v for v, u in zip(operands, used) if u]],
        outvars=[v for v, u in zip(eqn.outvars, used) if u],
        params={**eqn.params, "positions": positions},
    )
    return [True, *used], kept


@dce_rules.register(sort_p)
def _sort(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used):
        return [False] * len(used), None
    keys = eqn.params["num_keys"]
    needed = [u or i < keys for i, u in enumerate(used)]
    if all(needed):
        return needed, eqn
    invars = [v for v, n in zip(eqn.invars, needed) if n]
    outvars = [v for v, n in zip(eqn.outvars, needed) if n]
    return needed, eqn.replace(invars=invars, outvars=outvars)
