"""Dead code elimination of unused results and states of checkpointed loops."""

from __future__ import annotations

from dovetail_core import Eqn, dce_rules, dead_code, effects

from ..description import Loop
from ..primitives import forward_p, loop_p, reverse_p
from ..second import operands_of, second_p
from ..steps import pick, reduced_loop

Reduced = tuple[list[bool], Eqn | None]


@dce_rules.register(forward_p)
def _forward_dce(used: list[bool], eqn: Eqn) -> Reduced:
    """Replace a forward pass whose kept states are unused by a loop."""
    if not any(used) and not effects.must_be_kept(eqn.effects):
        return [False] * len(eqn.invars), None
    loop, stored = Loop.of(eqn.params), eqn.params["stored"]
    n = len(loop.out_types)
    if not any(used[n:]):
        plain = eqn.replace(primitive=loop_p, params=loop.params, outvars=eqn.outvars[:n])
        return dce_rules[loop_p](used[:n], plain)
    nc, nk = loop.num_consts, loop.num_carry
    keep = [False] * len(eqn.invars)
    keep[nc : nc + nk] = stored
    reduced, needed, left = reduced_loop(loop, used[:n], keep)
    params = {**reduced.params, "stored": tuple(pick(stored, left[:nk]))}
    results = [*left, *[True] * (len(eqn.outvars) - n)]
    return needed, dead_code.restrict_eqn(eqn, needed, results, params)


@dce_rules.register(second_p)
def _second_dce(used: list[bool], eqn: Eqn) -> Reduced:
    """Replace a derivative whose tangents are unused by the reverse pass."""
    if not any(used):
        return [False] * len(eqn.invars), None
    half = len(used) // 2
    if eqn.params["rest"] or any(used[half:]):
        return [True] * len(eqn.invars), eqn
    *_, end = operands_of(eqn.params, eqn.invars)
    params = {k: v for k, v in eqn.params.items() if k not in ("dotted", "rest")}
    needed = [k < end for k in range(len(eqn.invars))]
    return needed, eqn.replace(
        primitive=reverse_p, invars=eqn.invars[:end], outvars=eqn.outvars[:half], params=params
    )
