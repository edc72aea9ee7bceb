"""Applications rebuilt with a state, and with values that are collected in or supplied to regions.

The run of an interpreter through a region (see ``interpreter``) shows which of these are needed.
State that changes in a loop becomes a loop variable, in other regions a further result; state that
does not change becomes a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from dovetail_base.source import here, run_at

from ..dispatch.primitive import Primitive
from ..ir.programs import ClosedJaxpr, Jaxpr, Var
from ..ir.regions import CONTROL, Kind, Region, RegionInterface
from ..ir.rewriting import Part, Slot, assemble, slots_of
from ..rules.evaluation import jaxpr_as_fun
from ..rules.staging import consts_to_inputs, stage, stage_closed
from ..types.algebra import algebra, zeros_like_aval
from ..types.avals import AbstractValue, leading_size, without_leading
from ..types.typeof import typeof

Run = Callable[..., tuple[list[Any], list[Any], dict[Any, Any]]]
"""(inputs of a region, state, supplied values) -> (results, state, collected values)."""


class Unsliceable(NamedTuple):
    """A stand-in for a supplied value that a loop cannot slice."""

    type_text: str
    length: int
    title: str


class Inside:
    """A region as an interpreter runs it; outputs are results, then state, then collected values.

    Attributes:
        names: of the values that were collected in it. used: of the supplied values that it uses.
        written: True for each value of the state that it changes.
        differs: True if it is another program than before.
    """

    def __init__(
        self, run: Run, interface: RegionInterface, n: int, state: Sequence[Any],
        supplied: Mapping[Any, Any],
    ) -> None:  # fmt: skip
        self.region: Region = interface.regions[n]
        self.names: list[Any] = []
        self.used: list[Any] = []
        self.written: list[bool] = []
        self.differs = False
        before = [typeof(x) for x in state]
        seen = {name: _seen(x, interface) for name, x in supplied.items()}
        given = [name for name, a in seen.items() if a.__class__ is not Unsliceable]
        first, second = len(self.region.program.in_avals), len(before)

        def flat(*xs: Any) -> list[Any]:
            states = [_own(x, interface.axes) for x in xs[first : first + second]]
            values = {**seen, **dict(zip(given, xs[first + second :]))}
            outs, after, collected = run(list(xs[:first]), list(states), values)
            self.names, self.written = list(collected), [x is not y for x, y in zip(states, after)]
            _check_state([typeof(x) for x in states], after)
            outs = [_weak_as(x, a) for x, a in zip(outs, self.region.program.out_avals)]
            return [*outs, *after, *collected.values()]

        ins = [*self.region.program.in_avals, *before, *(seen[name] for name in given)]
        jaxpr, self.consts = stage(flat, ins, self.region.program.jaxpr.name)
        self.program = consts_to_inputs(jaxpr)
        self._given = given
        if interface.is_loop:
            self._check_variables(interface)

    @property
    def threads(self) -> bool:
        """True if the region changes state or collects values."""
        return any(self.written) or bool(self.names)

    @property
    def is_predicate(self) -> bool:
        return CONTROL in self.region.results

    @property
    def collected(self) -> dict[Any, AbstractValue]:
        """The types of the collected values."""
        avals = self.program.out_avals
        return dict(zip(self.names, avals[len(avals) - len(self.names) :]))

    def keep(self, used: set[Any]) -> None:
        """Remove inputs for supplied values that are not used."""
        jaxpr = self.program.jaxpr
        first = len(jaxpr.invars) - len(self._given)
        self.used = [name for name in self._given if name in used]
        kept = [v for v, name in zip(jaxpr.invars[first:], self._given) if name in used]
        self.program = ClosedJaxpr(jaxpr.replace(invars=[*jaxpr.invars[:first], *kept]))

    def inline(
        self, args: Sequence[Any], state: Sequence[Any], supplied: Mapping[Any, Any]
    ) -> tuple[list[Any], list[Any], dict[Any, Any]]:
        """Run it in place of an application; returns results, state, and collected values."""
        more = [supplied[name] for name in self.used]
        outs = _run(self.program, [*self.consts, *args, *state, *more])
        n = len(self.region.results)
        m = n + len(state)
        return outs[:n], outs[n:m], dict(zip(self.names, outs[m:]))

    def _check_variables(self, interface: RegionInterface) -> None:
        pairs = zip(self.region.results, self.region.program.out_avals, self.program.out_avals)
        for r, old, new in pairs:
            if r != CONTROL and interface.results[r].carried and old != new:
                raise TypeError(
                    f"in {interface.title}{here()} an interpretation makes {new.str_short()} of a "
                    f"loop variable of type {old.str_short()}. Convert it back (visit)."
                )


def _seen(value: Any, interface: RegionInterface) -> Any:
    """The type of a supplied value in regions; an ``Unsliceable`` if they cannot slice it."""
    if value.__class__ is Unsliceable:
        return value
    aval = typeof(value)
    if interface.length is None:
        return aval
    if leading_size(aval) != interface.length:
        return Unsliceable(aval.str_short(), interface.length, interface.title)
    return without_leading(aval)


def _own(x: Any, axes: Sequence[Any]) -> Any:
    """A value of the state as one that may vary along axes of a mesh."""
    more = [a for a in axes if a not in typeof(x).vma]
    return algebra().vary(x, more) if more else x


def _check_state(before: Sequence[AbstractValue], after: Sequence[Any]) -> None:
    for old, new in zip(before, map(typeof, after)):
        if old != new:
            raise TypeError(
                f"the state of an interpretation changes its type from {old.str_short()} to "
                f"{new.str_short()}{here()}. In calls, branches and loops it must stay."
            )


def _weak_as(x: Any, aval: AbstractValue) -> Any:
    """``x``, of weak type if ``aval`` is: numbers that replace results may differ in that."""
    result = typeof(x)
    same = result is aval or result.strong() != aval.strong()
    return x if same else algebra().convert(x, aval)


class Extension:
    """One application, rebuilt with the state and with collected and supplied values."""

    def __init__(
        self, interface: RegionInterface, inside: Sequence[Inside], args: Sequence[Any],
        state: Sequence[Any], supplied: Mapping[Any, Any],
    ) -> None:  # fmt: skip
        self.interface = interface
        self.inside = inside
        self.before = state
        self.supplied = supplied
        self.operands, self.results = slots_of(interface, args)
        self.further: dict[Any, Slot] = {}  # operands: constants, what is supplied
        written = [any(several) for several in zip(*(r.written for r in inside))]
        loop = interface.is_loop
        if interface.runs == "in any order" and any(written):
            _refuse(interface, "its iterations run in any order, so that none comes next")
        kinds = [Kind.CARRIED if w and loop else Kind.CONSTANT for w in written]
        self.state_in = [Slot(kind, x) for kind, x in zip(kinds, state)]
        given = [s if loop else Slot(Kind.PLAIN) for s in self.state_in]
        self.state_out = [s if w else None for s, w in zip(given, written)]
        self.types = self._collected_types()
        self.out = {name: self._collected_slot(a) for name, a in self.types.items()}

    def _collected_types(self) -> dict[Any, AbstractValue]:
        result: dict[Any, AbstractValue] = {}
        for r in self.inside:
            for name, aval in r.collected.items():
                if name in result and self.interface.is_loop:
                    refuse_second(name)
                if result.setdefault(name, aval) != aval:
                    raise TypeError(
                        f"{name!r} is collected as {result[name].str_short()} and, in another "
                        f"branch, as {aval.str_short()}{here()}. Make the types agree."
                    )
        return result

    def _collected_slot(self, aval: AbstractValue) -> Slot:
        if not self.interface.is_loop:
            return Slot(Kind.PLAIN)
        if self.interface.is_open_ended:
            return Slot(Kind.CARRIED, zeros_like_aval(aval))
        return Slot(Kind.STACKED)

    def run(self, primitive: Primitive) -> tuple[list[Any], list[Any], dict[Any, Any]]:
        """Apply it; returns the results, the state, and the collected values."""
        parts = [self._part(n, r) for n, r in enumerate(self.inside)]
        variables = [s for s in self.out.values() if s.kind.carried]
        for n, r in enumerate(self.inside):
            if r.is_predicate and r.threads:
                variables.append(self._run_ahead(parts, n))
        operands = [*self.operands, *self.further.values(), *self.state_in, *variables]
        changed = [s for s in self.state_out if s is not None]
        results = [*self.results, *changed, *self.out.values()]
        made = assemble(self.interface.rebuild, parts, operands, results)
        result = made.bind(primitive)
        state = [x if s is None else result[s] for s, x in zip(self.state_out, self.before)]
        collected = {name: result[s] for name, s in self.out.items()}
        return [result[s] for s in self.results], state, collected

    def _part(self, n: int, r: Inside) -> Part:
        consts = [self._further(id(c), Kind.CONSTANT, c) for c in r.consts]
        ins = [*consts, *(self.operands[i] for i in r.region.operands), *self.state_in]
        ins += [self._supplied(n, name) for name in r.used]
        outs = [i if i == CONTROL else self.results[i] for i in r.region.results]
        outs += self.state_out
        if self.interface.is_loop:
            if r.is_predicate and not r.threads:
                return Part(_outputs(r.program, [0], []), ins, [CONTROL])
            own = [self.out[name] for name in r.names]
            variables = {s: a for s, a in zip(own, r.collected.values()) if s.kind.carried}
            program = _with_inputs(r.program, list(variables.values()))
            return Part(program, [*ins, *variables], [*outs, *own])
        return Part(self._filled(r), ins, [*outs, *self.out.values()])

    def _further(self, key: Any, kind: Kind, value: Any) -> Slot:
        return self.further.setdefault(key, Slot(kind, value))

    def _supplied(self, n: int, name: Any) -> Slot:
        if self.interface.length is None:
            return self._further((name,), Kind.CONSTANT, self.supplied[name])
        return self._further((name, n), Kind.SLICED, self.supplied[name])  # slices are its own

    def _filled(self, r: Inside) -> ClosedJaxpr:
        """A branch's program with the collected values of all branches, in one order, zeros for
        those of others."""
        first = len(r.program.out_avals) - len(r.names)
        at = {name: first + i for i, name in enumerate(r.names)}
        order = [*range(first), *(at.get(name) for name in self.out)]
        return _outputs(r.program, order, [self.types[name] for name in self.out])

    def _run_ahead(self, parts: list[Part], n: int) -> Slot:
        """Move a condition that changes state or collects values into the body of the loop.

        It runs before the loop and after each iteration; its result becomes a loop variable, which
        is the loop's new condition.
        """
        if len(parts) != 2:
            why = "its condition would have to change the state or to collect, and which body is "
            _refuse(self.interface, f"{why}last is not known")
        condition, body = parts[n], parts[1 - n]
        outs = _run(condition.program, [s.value for s in condition.ins])
        for slot, x in zip(condition.outs, outs):
            if slot.__class__ is Slot:
                slot.value = x  # type: ignore[union-attr]
        answer = Slot(Kind.CARRIED, outs[condition.outs.index(CONTROL)])
        aval = typeof(answer.value)
        requested = Var(aval)
        parts[n] = Part(ClosedJaxpr(Jaxpr([], [requested], [requested], [])), [answer], [CONTROL])
        parts[1 - n] = _in_sequence(body, condition, answer)
        return answer


def _in_sequence(body: Part, condition: Part, answer: Slot) -> Part:
    """A loop's body, followed by the condition for the next iteration."""
    ins = list(dict.fromkeys([*body.ins, *condition.ins]))
    types: dict[Any, AbstractValue] = {}
    for part in (condition, body):
        types.update(zip(part.ins, part.program.in_avals))
    given = [s for s in dict.fromkeys([*body.outs, *condition.outs]) if s.__class__ is Slot]

    def both(*xs: Any) -> list[Any]:
        env: dict[Any, Any] = dict(zip(ins, xs))
        for part in (body, condition):
            env.update(zip(part.outs, _run(part.program, [env[s] for s in part.ins])))
        return [*(env[s] for s in given), env[CONTROL]]

    return Part(stage_closed(both, [types[s] for s in ins]), ins, [*given, answer])


def _run(program: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Run a program whose equations keep their own lines, whatever equation is running."""
    return run_at(None, jaxpr_as_fun(program), *args)


def _with_inputs(program: ClosedJaxpr, avals: Sequence[AbstractValue]) -> ClosedJaxpr:
    """The program with further inputs, which it does not use."""
    if not avals:
        return program
    more = [*program.jaxpr.invars, *(Var(a) for a in avals)]
    return ClosedJaxpr(program.jaxpr.replace(invars=more), program.consts)


def _outputs(
    program: ClosedJaxpr, order: Sequence[int | None], fillings: Sequence[AbstractValue]
) -> ClosedJaxpr:
    """The program with the outputs in ``order``; None is a zero of the type in ``fillings``."""
    if list(order) == list(range(len(program.out_avals))):
        return program
    first = len(order) - len(fillings)

    def f(*args: Any) -> list[Any]:
        outs = _run(program, args)
        return [
            zeros_like_aval(fillings[k - first]) if i is None else outs[i]
            for k, i in enumerate(order)
        ]

    return stage_closed(f, program.in_avals, program.jaxpr.name)


def _refuse(interface: RegionInterface, why: str) -> NoReturn:
    raise TypeError(
        f"an interpretation cannot go through {interface.title}{here()}: {why}. "
        "Use a loop whose iterations run in turn, or leave it out (visit)."
    )


def refuse_second(name: Any) -> NoReturn:
    """Raise the error for a name under which a value was collected already."""
    raise ValueError(
        f"{name!r} is collected a second time{here()}. Give the values different names."
    )
