"""Dead code elimination: a swap whose result is unused becomes a write. (Unused reads are dropped
by default.)"""

from __future__ import annotations

from dovetail_core import Eqn, dce_rules

from ..primitives import WRITE, set_p, swap_p


@dce_rules.register(swap_p)
def _swap(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if not any(used):
        eqn = eqn.replace(primitive=set_p, outvars=[], effects=frozenset({WRITE}))
    return [True] * len(eqn.invars), eqn
