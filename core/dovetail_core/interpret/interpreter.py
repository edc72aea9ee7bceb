"""Interpretations that are not forward-style: equation by equation, with a state, through regions.

An interpreter sees every equation of a program and of the sub-programs inside, may put something
else in its place, carry a state from one to the next, and collect values. Where a loop, a branch or
a call holds something that it changes, the primitive is put together again with further operands
and results: the state of a loop is one more loop variable, what is collected in it comes out
stacked. All of that follows from the primitive's regions, so it holds for those of third parties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NoReturn

from ..base.source import get_override, here, reset_override, set_override
from ..ir.programs import ClosedJaxpr, Eqn, Literal, Var
from ..ir.regions import CONTROL, Kind, Region, RegionInterface
from ..ir.rewriting import Part, Slot, assemble, slots_of
from ..rules.evaluation import at_their_types, jaxpr_as_fun
from ..rules.staging import consts_to_inputs, stage, stage_closed
from ..types.algebra import algebra, zeros
from ..types.avals import AbstractValue, typeof

Visit = Callable[[Eqn, list[Any]], Any]


def interpret(program: ClosedJaxpr, args: Sequence[Any], visit: Visit) -> list[Any]:
    """Run ``program``, asking ``visit`` for the results of each equation, in sub-programs too.

    Args:
        visit: from an equation and the values of its operands to the list of its results, or
            NotImplemented to leave it as it is. Operations that it applies are not visited again.

    For a state that goes from equation to equation, and for values that come out of loops, inherit
    from :class:`Interpreter`.
    """
    return _Visiting(visit).run(program, args)


class Interpreter:
    """Runs programs as :meth:`visit` says.

    Attributes:
        state: arrays of fixed types that :meth:`visit` reads and replaces. They go through calls
            and branches, and through loops whose iterations run in turn.
        collected: what :meth:`collect` was given, by name. From a call it comes out as it is, from
            a loop of known length stacked along a new leading axis, from a ``while_loop`` as in the
            last iteration (zeros if there was none), from branches zeros where another one ran.
        changed: whether anything was done so far but to leave equations as they are.
    """

    def __init__(self, state: Sequence[Any] = ()) -> None:
        self.state = [algebra().convert(x, typeof(x).strong()) for x in state]
        self.collected: dict[Any, Any] = {}
        self.changed = False

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        """The list of results of an equation; NotImplemented leaves it as it is.

        An equation that holds sub-programs is entered if it is left as it is.
        """
        return NotImplemented

    def collect(self, name: Any, value: Any) -> None:
        """Let a value out of the program, from any depth.

        Raises:
            ValueError: something was collected under that name already.
        """
        if name in self.collected:
            raise ValueError(
                f"{name!r} is collected a second time{here()}. Give the values different names."
            )
        self.collected[name] = value

    def run(self, program: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """The program's results; numbers in it keep their types, equations the user's lines.

        Raises:
            TypeError: the number of arguments is not that of the program's inputs.
        """
        if len(args) != len(program.in_avals):
            raise TypeError(f"the program takes {len(program.in_avals)} inputs, {len(args)} given")
        jaxpr, consts = at_their_types(program.jaxpr, program.consts)
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
        env.update(zip(jaxpr.invars, args))

        def read(x: Any) -> Any:
            return x.val if x.__class__ is Literal else env[x]

        inherited = get_override()
        token = set_override(inherited)
        try:
            for eqn in jaxpr.eqns:
                set_override(inherited or eqn.source)
                env.update(zip(eqn.outvars, self._apply(eqn, [read(x) for x in eqn.invars])))
        finally:
            reset_override(token)
        return [read(x) for x in jaxpr.outvars]

    def _apply(self, eqn: Eqn, args: list[Any]) -> Sequence[Any]:
        before = list(self.state)
        found = self.visit(eqn, args)
        changed = any(x is not y for x, y in zip(before, self.state)) or bool(self.collected)
        self.changed = self.changed or changed or found is not NotImplemented
        if found is not NotImplemented:
            return found
        primitive = eqn.primitive
        if primitive.regions is not None:
            interface: RegionInterface = primitive.regions(eqn.params)
            inside = [_Inside(self, interface, region) for region in interface.regions]
            if any(r.changed for r in inside):
                self.changed = True
                if primitive.anonymous:  # its author's rules are for its results alone
                    return self.run(interface.regions[0].program, args)
                return _Extension(self, interface, inside, args).run(eqn)
        out = primitive.bind(*args, **eqn.params)
        return out if primitive.multiple_results else [out]


class _Visiting(Interpreter):
    def __init__(self, visit: Visit) -> None:
        super().__init__()
        self._visit = visit

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        return self._visit(eqn, args)


class _Inside:
    """A region as an interpreter runs it: results, then the state, then what was collected."""

    def __init__(self, outer: Interpreter, interface: RegionInterface, region: Region) -> None:
        self.region = region
        self.names: list[Any] = []
        self.changed = False
        n = len(region.program.in_avals)

        def run(*xs: Any) -> list[Any]:
            inner = copy(outer)
            inner.state, inner.collected, inner.changed = list(xs[n:]), {}, False
            outs = inner.run(region.program, xs[:n])
            self.names, self.changed = list(inner.collected), inner.changed
            return [*outs, *inner.state, *inner.collected.values()]

        states = [typeof(x) for x in outer.state]
        jaxpr, self.consts = stage(run, [*region.program.in_avals, *states], "")
        jaxpr.name = region.program.jaxpr.name
        self.program = consts_to_inputs(jaxpr)
        self.state_types = self._checked(states) if self.changed else states

    def _checked(self, states: list[AbstractValue]) -> list[AbstractValue]:
        n = len(self.region.program.out_avals)
        found = [a.strong() for a in self.program.out_avals[n : n + len(states)]]
        for before, after in zip(states, found):
            if before != after:
                raise TypeError(
                    f"the state of an interpretation changes its type from {before.str_short()} to "
                    f"{after.str_short()}{here()}. In calls, branches and loops it must stay."
                )
        return found

    @property
    def is_predicate(self) -> bool:
        return CONTROL in self.region.results


class _Extension:
    """One application, put together again with the state and what is collected."""

    def __init__(
        self,
        outer: Interpreter,
        interface: RegionInterface,
        inside: Sequence[_Inside],
        args: Sequence[Any],
    ) -> None:
        self.outer = outer
        self.interface = interface
        self.inside = inside
        self.operands, self.results = slots_of(interface, args)
        carried = interface.is_loop
        if interface.runs == "in any order" and outer.state:
            _refuse(interface, "its iterations run in any order, so that none comes next")
        if any(r.is_predicate and r.changed for r in inside):
            _refuse(interface, "its condition would have to change the state or to collect values")
        kind = Kind.CARRIED if carried else Kind.CONSTANT
        self.state_in = [Slot(kind, x) for x in outer.state]
        self.state_out = self.state_in if carried else [Slot(Kind.PLAIN) for _ in outer.state]
        self.types = self._collected_types()
        self.out = {name: self._collected_slot(a) for name, a in self.types.items()}

    def _collected_types(self) -> dict[Any, AbstractValue]:
        found: dict[Any, AbstractValue] = {}
        for r in self.inside:
            avals = r.program.out_avals
            for name, aval in zip(r.names, avals[len(avals) - len(r.names) :]):
                if found.setdefault(name, aval.strong()) != aval.strong():
                    raise TypeError(
                        f"{name!r} is collected as {found[name].str_short()} and, in another "
                        f"branch, as {aval.str_short()}{here()}. Make the types agree."
                    )
        return found

    def _collected_slot(self, aval: AbstractValue) -> Slot:
        if not self.interface.is_loop:
            return Slot(Kind.PLAIN)
        if self.interface.is_open_ended:
            return Slot(Kind.CARRIED, zeros(aval))
        return Slot(Kind.STACKED)

    def run(self, eqn: Eqn) -> Sequence[Any]:
        consts: dict[int, Slot] = {}
        parts = [self._part(r, consts) for r in self.inside]
        last = [s for s in self.out.values() if s.kind.carried]
        operands = [*self.operands, *consts.values(), *self.state_in, *last]
        further = [*self.state_out, *self.out.values()]
        made = assemble(self.interface.rebuild, parts, operands, [*self.results, *further])
        found = made.bind(eqn.primitive)
        self.outer.state = [found[s] for s in self.state_out]
        for name, slot in self.out.items():
            self.outer.collect(name, found[slot])
        return [found[s] for s in self.results]

    def _part(self, r: _Inside, consts: dict[int, Slot]) -> Part:
        given = [consts.setdefault(id(c), Slot(Kind.CONSTANT, c)) for c in r.consts]
        ins = [*given, *(self.operands[i] for i in r.region.operands), *self.state_in]
        if r.is_predicate:
            return Part(_outputs(r.program, [0], []), ins, [CONTROL])
        outs = [*(self.results[i] for i in r.region.results), *self.state_out]
        if self.interface.is_loop:
            own = [self.out[name] for name in r.names]
            last = [s for s in own if s.kind.carried]
            types = [self.types[name] for name in r.names if self.out[name].kind.carried]
            return Part(_with_inputs(r.program, types), [*ins, *last], [*outs, *own])
        return Part(self._filled(r), ins, [*outs, *self.out.values()])

    def _filled(self, r: _Inside) -> ClosedJaxpr:
        """A branch's program with what all branches collect, in one order; zeros for others'."""
        first = len(r.program.out_avals) - len(r.names)
        at = {name: first + i for i, name in enumerate(r.names)}
        order = [*range(first), *(at.get(name) for name in self.out)]
        return _outputs(r.program, order, [self.types[name] for name in self.out])


def _outputs(
    program: ClosedJaxpr, order: Sequence[int | None], fillings: Sequence[AbstractValue]
) -> ClosedJaxpr:
    """The program with the outputs in ``order``; None is a zero, of the type in its place."""
    if list(order) == list(range(len(program.out_avals))):
        return program
    first = len(order) - len(fillings)

    def f(*args: Any) -> list[Any]:
        outs = jaxpr_as_fun(program)(*args)
        return [zeros(fillings[k - first]) if i is None else outs[i] for k, i in enumerate(order)]

    return stage_closed(f, program.in_avals, program.jaxpr.name)


def _with_inputs(program: ClosedJaxpr, avals: Sequence[AbstractValue]) -> ClosedJaxpr:
    """The program with further inputs, which it does not use."""
    if not avals:
        return program
    more = [*program.jaxpr.invars, *(Var(a) for a in avals)]
    return ClosedJaxpr(program.jaxpr.replace(invars=more), program.consts)


def _refuse(interface: RegionInterface, why: str) -> NoReturn:
    raise TypeError(
        f"an interpretation cannot go through {interface.title or 'a loop'}{here()}: {why}. "
        "Use a loop whose iterations run in turn, or leave it out (visit)."
    )
