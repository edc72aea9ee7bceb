"""Runs of programs in which unaffected equations are copied, for traces that change few of them.

To bind every equation again would infer types that are known; a program of thousands of equations,
a few of them high, would take as long to lower as it took to trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.source import get_override, set_override
from dovetail_core import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Literal,
    StagedTracer,
    StagingTrace,
    Var,
    eval_jaxpr,
    evaluation,
    get_trace,
    typeof,
)

IsUnaffected = Callable[[Eqn], bool]
"""True for equations that are copied if their operands are unaffected; none has a high type."""


def run_partly(closed: ClosedJaxpr, is_unaffected: IsUnaffected, *args: Any) -> list[Any]:
    """Run a program under the current trace, over one that stages; returns its outputs.

    Values of high types are the trace's; all others are variables of the program that is staged.
    """
    target = get_trace().parent
    if not isinstance(target, StagingTrace):
        return eval_jaxpr(closed.jaxpr, closed.consts, *args)
    jaxpr, consts = evaluation.with_typed_constants(closed.jaxpr, closed.consts)
    run = _Run(target, is_unaffected)
    for v, x in zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args]):
        run.define(v, x)
    inherited = get_override()  # an enclosing program's equation, already the user's line
    try:
        try:
            for eqn in jaxpr.eqns:
                if not run.copied(eqn, inherited):
                    set_override(inherited or eqn.source)
                    run.bind(eqn)
        finally:  # as in base.scopes.run_with, without its frame
            set_override(inherited)
    finally:
        set_override(inherited)
    return [run.value(x) for x in jaxpr.outvars]


class _Run:
    """The variables of a program while it is run."""

    __slots__ = ("target", "is_unaffected", "names", "values")

    def __init__(self, target: StagingTrace, is_unaffected: IsUnaffected) -> None:
        self.target = target
        self.is_unaffected = is_unaffected
        self.names: dict[Atom, Atom] = {}
        """The atoms, in the program that is staged, of variables of low types."""
        self.values: dict[Atom, Any] = {}
        """The values of variables of high types."""

    def define(self, var: Var, value: Any) -> None:
        if typeof(value).is_high:
            self.values[var] = value
        else:
            self.names[var] = self.target.atom(value)

    def value(self, x: Atom) -> Any:
        if x in self.values:
            return self.values[x]
        atom = x if x.__class__ is Literal else self.names[x]
        return atom.val if isinstance(atom, Literal) else StagedTracer(self.target, atom)

    def copied(self, eqn: Eqn, inherited: Any) -> bool:
        """Record an equation as it is; False where it must be bound."""
        if not self.is_unaffected(eqn):
            return False
        names, invars, same = self.names, list[Any](), inherited is None
        for x in eqn.invars:
            atom = x
            if x.__class__ is not Literal:
                atom = names.get(x)
                if atom is not x:
                    if atom is None or atom.aval is not x.aval:
                        return False
                    same = False
            invars.append(atom)
        if not same:
            source = inherited or eqn.source
            eqn = Eqn(eqn.primitive, invars, eqn.outvars, eqn.params, eqn.effects, source)
        self.target.eqns.append(eqn)
        for v in eqn.outvars:
            names[v] = v
        return True

    def bind(self, eqn: Eqn) -> None:
        args = tuple([self.value(x) for x in eqn.invars])
        out = get_trace().process(eqn.primitive, args, eqn.params)
        for v, x in zip(eqn.outvars, out if eqn.primitive.multiple_results else (out,)):
            self.define(v, x)
