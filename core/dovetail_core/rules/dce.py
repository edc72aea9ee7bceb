"""Dead-code elimination over the table ``dce``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..base.options import check_ir
from ..ir.programs import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from ..ir.verification import check_jaxpr
from ..types.avals import AbstractValue
from ..types.effects import lasting
from .tables import RuleTable


class DceRule(Protocol):
    """Which inputs an equation needs when only some results are used.

    ``rule(used_outputs, eqn)`` returns a bool per input and the reduced equation (None: drop it).
    """

    def __call__(self, used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]: ...


dce_rules: RuleTable[DceRule] = RuleTable(
    "dce", signature=DceRule, law="dce", empty="kept whole where a result is used, else dropped"
)


def default_rule(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """Keep an equation whole if a result is used or it has an effect but reading, else drop it."""
    keep = any(used) or (bool(eqn.effects) and lasting(eqn.effects))
    return [keep] * len(eqn.invars), eqn if keep else None


def narrowed(eqn: Eqn, needed: Sequence[bool], used: Sequence[bool], params: dict[str, Any]) -> Eqn:
    """The equation with the operands and results that are marked, and some parameters replaced.

    Effects that name an operand name it at its new position.
    """
    invars = [x for x, n in zip(eqn.invars, needed) if n]
    outvars = [v for v, u in zip(eqn.outvars, used) if u]
    params = {**eqn.params, **params}
    effects = eqn.effects
    if effects:
        effects = eqn.primitive.infer(tuple([x.aval for x in invars]), params).effects
    return eqn.replace(invars=invars, outvars=outvars, params=params, effects=effects)


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], keep_inputs: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """Remove what ``used_outputs`` do not need.

    Returns the reduced program, with unused outputs and inputs removed (inputs are kept where
    ``keep_inputs`` says so; unused constants stay as they are), and which inputs are left.
    """
    rules = dce_rules.rules
    dce_rules.fill()
    live: set[Var] = set()
    outvars = [v for v, u in zip(jaxpr.outvars, used_outputs) if u]
    live.update(v for v in outvars if not isinstance(v, Literal))
    kept: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        rule = rules.get(eqn.primitive)
        if rule is None:
            own = eqn.primitive.rules
            rule = default_rule if own is None else own.get("dce", default_rule)
        needs, reduced = rule(used, eqn)
        if reduced is not None:
            kept.append(reduced)
            live.update(v for v, n in zip(eqn.invars, needs) if n and not isinstance(v, Literal))
    keep = [keep_inputs] * len(jaxpr.invars) if isinstance(keep_inputs, bool) else keep_inputs
    left = [v in live or k for v, k in zip(jaxpr.invars, keep)]
    invars = [v for v, u in zip(jaxpr.invars, left) if u]
    mut_types = _moved(jaxpr, [True] * len(jaxpr.constvars) + left)
    reduced = jaxpr.replace(invars=invars, outvars=outvars, eqns=kept[::-1], mut_types=mut_types)
    if check_ir.value:
        check_jaxpr(reduced, "dead-code elimination")
    return reduced, left


def _moved(jaxpr: Jaxpr, left: Sequence[bool]) -> dict[int, AbstractValue]:
    """``mut_types`` at the positions that its inputs have among those that are ``left``."""
    return {sum(left[:i]): t for i, t in jaxpr.mut_types.items() if left[i]}


def dce_closed(
    closed: ClosedJaxpr, used_outputs: Sequence[bool], keep_inputs: bool | Sequence[bool] = False
) -> tuple[ClosedJaxpr, list[bool]]:
    """:func:`dce_jaxpr` for a closed program; constants that nothing uses are dropped too."""
    jaxpr, left = dce_jaxpr(closed.jaxpr, used_outputs, keep_inputs)
    live = {v for e in jaxpr.eqns for v in e.invars} | set(jaxpr.outvars)
    used = [v in live for v in jaxpr.constvars]
    mut_types = _moved(jaxpr, used + [True] * len(jaxpr.invars))
    constvars = [v for v, u in zip(jaxpr.constvars, used) if u]
    jaxpr = jaxpr.replace(constvars=constvars, mut_types=mut_types)
    return ClosedJaxpr(jaxpr, [c for c, u in zip(closed.consts, used) if u]), left
