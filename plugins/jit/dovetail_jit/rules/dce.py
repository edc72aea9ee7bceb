"""Dead code in a call: reduce its program to the results that are used."""

from __future__ import annotations

from dovetail_core import Eqn, dce_closed, dce_rules
from dovetail_core.rules.dce import narrowed
from dovetail_core.types.effects import lasting

from ..primitive import jit_p


@dce_rules.register(jit_p)
def _jit_dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used) and not lasting(eqn.effects):
        return [False] * len(eqn.invars), None
    program, needed = dce_closed(eqn.params["program"], used)
    donated = tuple(d for d, n in zip(eqn.params["donated"], needed) if n)
    return needed, narrowed(eqn, needed, used, {"program": program, "donated": donated})
