"""Rules of ``dce``: of sorts, arrays that are sorted along and not used are left out."""

from __future__ import annotations

from dovetail_core import Eqn, dce_rules

from ...primitives.sorting import sort_p


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
