"""Discharge: programs without references, which take and return the contents of references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    LiftTrace,
    Pass,
    Primitive,
    Trace,
    eval_jaxpr,
    generation,
    get_trace,
    mutable_values,
    run_under,
    stage_closed,
)

from .tables import discharge_rules


class DischargeTrace(Trace):
    """Applies operations on references as operations on their contents, and passes on others.

    With ``keeps_rules``, functions with custom rules may be transformed later: they take references
    instead of local values.
    """

    __slots__ = ("keeps_rules", "stand_ins")
    parent: Trace
    what = "the discharge of references"

    def __init__(self, parent: Trace, keeps_rules: bool) -> None:
        super().__init__(parent)
        self.keeps_rules = keeps_rules
        self.stand_ins: mutable_values.StandIns = {}

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive.stateful and self._concerns(primitive, args, params):
            apply = mutable_values.apply_local if self.keeps_rules else apply_rule
            return apply(self, primitive, args, params)
        return self.parent.process(primitive, args, params)

    def stand_in_for(self, local: Any) -> Any:
        return (
            NotImplemented
            if local.borrowed
            else mutable_values.stand_in(self.stand_ins, local, list(local.contents))
        )

    def read_stand_in(self, local: Any) -> None:
        mutable_values.read_stand_in(self.stand_ins, local, self.parent)

    def _concerns(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> bool:
        if mutable_values.uses_local(self, primitive, args):
            return True
        if primitive.regions is None:
            return False
        return any(_has_internal(r.program) for r in primitive.regions(params).regions)


def _has_internal(program: ClosedJaxpr) -> bool:
    """True if references are made inside of a program; cached with it."""
    return program.memo("makes_mutable", lambda: any(map(_makes_internal, program.eqns)))


def _makes_internal(eqn: Eqn) -> bool:
    primitive = eqn.primitive
    if primitive.allocates or primitive.regions is None:
        return primitive.allocates
    return any(_has_internal(r.program) for r in primitive.regions(eqn.params).regions)


def apply_rule(
    trace: Trace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Apply an operation to the local values of ``trace``, which is current."""
    for x in args:
        if x.__class__ is mutable_values.LocalValue and x._trace is trace:
            x.check()
    own = primitive.rules
    own = {} if own is None or discharge_rules.name in own else own
    if isinstance(trace, LiftTrace) and trace.table.name in own:
        ref = next(x for x in args if mutable_values.is_local(trace, x))
        mutable_values.raise_lost_rule(trace, primitive.title(params), ref)
    rule = discharge_rules.rules.get(primitive) or discharge_rules.miss(primitive)
    return rule(trace, args, params)


def discharge_program(
    program: ClosedJaxpr, which: Sequence[bool] | None = None, keeps_rules: bool = False
) -> mutable_values.Discharged:
    """The program with contents instead of references; cached with it.

    Args:
        which: True for each input that is a reference to discharge (None: all references). Others
            stay references, and the program keeps its effects on them.
        keeps_rules: see :class:`DischargeTrace`.

    Returns: the program, which takes the contents instead of each such input and returns the
        results, then the final contents of written inputs; and the indices of these.
    """
    flags = [a.is_mutable for a in program.in_avals] if which is None else which
    keeps = keeps_rules and mutable_values.custom_rules_take_local(program)
    key = ("discharge", tuple(flags), keeps, generation.value)
    return program.memo(key, lambda: _discharge(program, key[1], keeps))


def _discharge(
    program: ClosedJaxpr, which: tuple[bool, ...], keeps_rules: bool
) -> mutable_values.Discharged:
    if not any(which) and not _has_internal(program):
        return mutable_values.Discharged(program, ())
    written: list[int] = []
    types = [a.content_types() if w else (a,) for a, w in zip(program.in_avals, which)]

    def on_contents(*flat: Any) -> list[Any]:
        trace, given = DischargeTrace(get_trace(), keeps_rules), iter(flat)
        values: list[Any] = []
        for aval, w, t in zip(program.in_avals, which, types):
            held = [next(given) for _ in t]
            values.append(
                mutable_values.LocalValue(trace, aval, held, borrowed=True) if w else held[0]
            )
        first = [list(v.contents) if w else [] for v, w in zip(values, which)]
        outs = list(run_under(trace, eval_jaxpr, program.jaxpr, program.consts, *values))
        trace.ended = True
        written[:] = [
            i
            for i, (v, w) in enumerate(zip(values, which))
            if w and not _same(v.contents, first[i])
        ]
        return outs + [x for i in written for x in values[i].contents]

    made = stage_closed(on_contents, [t for ts in types for t in ts], program.jaxpr.name)
    return mutable_values.Discharged(made, tuple(written))


def _same(after: Sequence[Any], before: Sequence[Any]) -> bool:
    """True if the contents of a mutable value are unchanged."""
    return len(after) == len(before) and all(a is b for a, b in zip(after, before))


class Discharger:
    """Provides :class:`dovetail_mutable.mutable_values.Discharge`."""

    def apply(
        self, trace: Trace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Apply an operation to the local values of ``trace``."""
        return apply_rule(trace, primitive, args, params)

    def program(
        self, program: ClosedJaxpr, which: tuple[bool, ...], keeps_rules: bool = False
    ) -> mutable_values.Discharged:
        """The program without mutable values, except inputs not marked in ``which``."""
        return discharge_program(program, which, keeps_rules)


DISCHARGER = Discharger()


def discharge(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without references.

    Each input that is a reference is replaced by its contents, and the final contents of all of
    these are additional results, in the order of the inputs. References made inside disappear.
    References among the program's constants become the first inputs.
    """
    jaxpr = program.jaxpr
    if any(v.aval.is_mutable for v in jaxpr.constvars):
        held = [v for v in jaxpr.constvars if v.aval.is_mutable]
        rest = [(v, c) for v, c in zip(jaxpr.constvars, program.consts) if not v.aval.is_mutable]
        jaxpr = jaxpr.replace(constvars=[v for v, _ in rest], invars=[*held, *jaxpr.invars])
        program = ClosedJaxpr(jaxpr, [c for _, c in rest])
    result = discharge_program(program)
    n, new = len(jaxpr.outvars), result.program.jaxpr
    finals: list[Any] = []
    given, results = iter(new.invars), iter(new.outvars[n:])
    for i, aval in enumerate(program.in_avals):
        own = [next(given) for _ in range(len(aval.content_types()) if aval.is_mutable else 1)]
        if i in result.written:
            own = [next(results) for _ in own]
        finals += own if aval.is_mutable else []
    outvars = [*new.outvars[:n], *finals]
    return ClosedJaxpr(new.replace(outvars=outvars), result.program.consts)


def _discharge_own(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without references that are made inside of it."""
    return discharge_program(program, (False,) * len(program.in_avals)).program


DISCHARGE = Pass("discharge", "ir", _discharge_own)
"""The pass that runs before a program is lowered."""
