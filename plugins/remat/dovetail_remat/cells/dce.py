"""Dead code in a checkpointed call."""

from __future__ import annotations

from dovetail_core import Eqn, dce_closed, dce_rules

from ..primitive import remat_p


@dce_rules.register(remat_p)
def _remat_dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used) and not eqn.effects:
        return [False] * len(eqn.invars), None
    program, needed = dce_closed(eqn.params["program"], used)
    return needed, eqn.replace(
        invars=[x for x, n in zip(eqn.invars, needed) if n],
        outvars=[v for v, u in zip(eqn.outvars, used) if u],
        params={**eqn.params, "program": program},
    )
