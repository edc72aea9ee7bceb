"""Dead-code elimination over the table ``dce``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dovetail_base.options import enable_checks

from ..dispatch.primitive import Primitive
from ..ir.programs import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from ..ir.regions import CONTROL, Operand, RegionInterface
from ..ir.verification import check_jaxpr
from ..types.avals import AbstractValue
from ..types.effects import is_ignoring_io, must_be_kept
from .tables import RuleTable, generation

__all__ = (
    "DceRule",
    "dce_closed",
    "dce_jaxpr",
    "dce_rules",
    "needed_operands",
    "reduced_params",
    "reduced_programs",
    "restrict_eqn",
)


class DceRule(Protocol):
    """Finds the inputs that an equation needs for its used results.

    ``rule(used_outputs, eqn)`` returns a bool per input and the reduced equation (None: drop it).
    """

    def __call__(self, used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]: ...


dce_rules: RuleTable[DceRule] = RuleTable(
    "dce", signature=DceRule, law="dce", empty="kept whole where a result is used, else dropped"
)


def default_rule(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """Keep an equation whole if a result is used or it has an effect but reading, else drop it."""
    keep = any(used) or (bool(eqn.effects) and must_be_kept(eqn.effects))
    return [keep] * len(eqn.invars), eqn if keep else None


@dce_rules.deriver
def _derive(primitive: Primitive) -> DceRule | None:
    return None if primitive.regions is None or primitive.anonymous else reduce_regions


def _unnamed(primitive: Primitive) -> DceRule:
    """The rule of a primitive that has none in the table."""
    if primitive.rules is not None:
        return primitive.rules.get("dce", default_rule)
    dce_rules.fill(primitive)
    if (rule := dce_rules.entered(primitive)) is not None:
        return rule
    return default_rule if primitive.regions is None else dce_rules.miss(primitive)


def needed_operands(
    interface: RegionInterface, used: Sequence[bool], keep: Sequence[bool] | None = None
) -> tuple[list[bool], list[bool]]:
    """The operands that the used results need, and the results that stay, as booleans.

    A loop variable is both.

    Args:
        keep: operands that are needed in any case.
    """
    left = list(used)
    needed = list(keep) if keep is not None else [False] * len(interface.operands)
    if interface.control is not None:
        needed[interface.control] = True
    while True:
        before = list(left)
        for region in interface.regions:
            wanted = [r == CONTROL or left[r] for r in region.results]
            for i, live in zip(region.operands, dce_closed(region.program, wanted)[1]):
                needed[i] = needed[i] or live
        for r, i in interface.loop:
            left[r] = needed[i] = left[r] or needed[i]
        if left == before:
            return needed, left


def reduced_programs(
    interface: RegionInterface, needed: Sequence[bool], left: Sequence[bool]
) -> list[ClosedJaxpr]:
    """The regions' programs for some of the operands and results (see :func:`needed_operands`)."""
    programs: list[ClosedJaxpr] = []
    for region in interface.regions:
        wanted = [r == CONTROL or left[r] for r in region.results]
        kept = [needed[i] for i in region.operands]
        programs.append(dce_closed(region.program, wanted, kept)[0])
    return programs


def reduced_params(
    interface: RegionInterface, needed: Sequence[bool], programs: Sequence[ClosedJaxpr]
) -> dict[str, Any]:
    """Parameters for some of the operands."""
    kinds = enumerate(interface.operands)
    return interface.rebuild(programs, [Operand(kind, i) for i, kind in kinds if needed[i]])


def reduce_regions(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """Reduce regions to what the used results and lasting effects need."""
    if not any(used) and not must_be_kept(eqn.effects):
        return [False] * len(eqn.invars), None
    assert eqn.primitive.regions is not None
    interface: RegionInterface = eqn.primitive.regions(eqn.params)
    needed, left = needed_operands(interface, used)
    programs = reduced_programs(interface, needed, left)
    if all(needed) and all(p is r.program for p, r in zip(programs, interface.regions)):
        return needed, eqn
    return needed, restrict_eqn(eqn, needed, left, reduced_params(interface, needed, programs))


def restrict_eqn(
    eqn: Eqn, needed: Sequence[bool], used: Sequence[bool], params: dict[str, Any]
) -> Eqn:
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
    """Remove equations that ``used_outputs`` do not need.

    Returns the reduced program, without unused outputs and inputs (inputs marked in ``keep_inputs``
    and all constants stay), and a boolean per input: whether it is left.
    """
    rules = dce_rules.rules
    live: set[Var] = set()
    outvars = [v for v, u in zip(jaxpr.outvars, used_outputs) if u]
    live.update(v for v in outvars if not isinstance(v, Literal))
    kept: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        used = [v in live for v in eqn.outvars]
        rule = rules.get(eqn.primitive) or _unnamed(eqn.primitive)
        needs, reduced = rule(used, eqn)
        if reduced is not None:
            kept.append(reduced)
            live.update(v for v, n in zip(eqn.invars, needs) if n and not isinstance(v, Literal))
    keep = [keep_inputs] * len(jaxpr.invars) if isinstance(keep_inputs, bool) else keep_inputs
    left = [v in live or k for v, k in zip(jaxpr.invars, keep)]
    invars = [v for v, u in zip(jaxpr.invars, left) if u]
    mut_types = _moved(jaxpr, [True] * len(jaxpr.constvars) + left)
    reduced = jaxpr.replace(invars=invars, outvars=outvars, eqns=kept[::-1], mut_types=mut_types)
    if enable_checks.value:
        check_jaxpr(reduced, "dead-code elimination")
    return reduced, left


def _same(some: Sequence[Eqn], others: Sequence[Eqn]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others))


def _moved(jaxpr: Jaxpr, left: Sequence[bool]) -> dict[int, AbstractValue]:
    """``mut_types`` at the positions that its inputs have among those that are ``left``."""
    return {sum(left[:i]): t for i, t in jaxpr.mut_types.items() if left[i]}


def dce_closed(
    closed: ClosedJaxpr, used_outputs: Sequence[bool], keep_inputs: bool | Sequence[bool] = False
) -> tuple[ClosedJaxpr, list[bool]]:
    """:func:`dce_jaxpr` for a closed program; unused constants are dropped, too.

    Remembered with the program.
    """
    keep = keep_inputs if isinstance(keep_inputs, bool) else tuple(keep_inputs)
    key = ("dce", tuple(used_outputs), keep, is_ignoring_io(), generation.value)
    reduced, left = closed.memo(key, lambda: _reduced(closed, used_outputs, keep_inputs))
    return reduced, list(left)


def _reduced(
    closed: ClosedJaxpr, used_outputs: Sequence[bool], keep_inputs: bool | Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    jaxpr, left = dce_jaxpr(closed.jaxpr, used_outputs, keep_inputs)
    live = {v for e in jaxpr.eqns for v in e.invars} | set(jaxpr.outvars)
    used = [v in live for v in jaxpr.constvars]
    if all(used_outputs) and all(left) and all(used) and _same(jaxpr.eqns, closed.eqns):
        return closed, left
    mut_types = _moved(jaxpr, used + [True] * len(jaxpr.invars))
    constvars = [v for v, u in zip(jaxpr.constvars, used) if u]
    jaxpr = jaxpr.replace(constvars=constvars, mut_types=mut_types)
    return ClosedJaxpr(jaxpr, [c for c, u in zip(closed.consts, used) if u]), left
