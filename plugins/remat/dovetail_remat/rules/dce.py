"""Dead code in a checkpointed call."""

from __future__ import annotations

from dovetail_core import Eqn, dce_closed, dce_rules
from dovetail_core.rules.dce import narrowed
from dovetail_core.types.effects import lasting

from ..primitive import remat_p


@dce_rules.register(remat_p)
def _remat_dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used) and not lasting(eqn.effects):
        return [False] * len(eqn.invars), None
    program, needed = dce_closed(eqn.params["program"], used)
    barrier = eqn.params["prevent_cse"]
    if isinstance(barrier, tuple):
        barrier = tuple(b for b, n in zip(barrier, needed) if n)
    return needed, narrowed(eqn, needed, used, {"program": program, "prevent_cse": barrier})
