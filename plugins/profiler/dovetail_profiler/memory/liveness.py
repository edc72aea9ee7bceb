"""The lifetimes of values of a program in memory: a schedule of its operations, and buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from dovetail_base.source import Source
from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Kind, Region, RegionInterface, Var
from dovetail_cost import nbytes, work

ARGUMENT: str = "argument"
CONSTANT: str = "constant"
TEMPORARY: str = "temporary"
RESULT: str = "result"
"""The kinds of buffers."""


@dataclass(eq=False)
class Buffer:
    """A piece of memory: its content, and the first and last step of the schedule that need it.

    Attributes:
        kind: one of argument, constant, temporary, result.
        name: the name of the argument, or of the operation whose result it is.
        source: the user's line that made it, if any.
    """

    kind: str
    name: str
    aval: Any
    source: Source | None
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return nbytes(self.aval)


@dataclass
class Step:
    """An operation of the schedule; those of a loop occur once, for all iterations.

    Attributes:
        loops: the loops that it is in, outermost first.
    """

    operation: str
    source: Source | None
    loops: tuple[str, ...] = ()


@dataclass
class Liveness:
    """The schedule of a program and the buffers that it needs."""

    steps: list[Step] = field(default_factory=list[Step])
    buffers: list[Buffer] = field(default_factory=list[Buffer])

    @property
    def timeline(self) -> list[int]:
        """Bytes in memory during each step."""
        change = [0] * (len(self.steps) + 1)
        for b in self.buffers:
            change[b.start] += b.nbytes
            change[b.end + 1] -= b.nbytes
        return list(accumulate(change[:-1]))

    @property
    def peak_at(self) -> int:
        """The first step with the most bytes in memory."""
        timeline = self.timeline
        return timeline.index(max(timeline))

    def alive(self, step: int) -> list[Buffer]:
        """The buffers in memory during a step, the largest first."""
        result = [b for b in self.buffers if b.start <= step <= b.end and b.nbytes]
        return sorted(result, key=lambda b: -b.nbytes)


def liveness(program: ClosedJaxpr, names: Sequence[str], donated: Sequence[bool] = ()) -> Liveness:
    """The schedule of a program as it is written: one operation after the other.

    Calls are inlined. Loops have one iteration, and conditionals all branches, in sequence. A value
    is in memory from its operation to its last use; arguments and constants are in memory all the
    time, except for donated arguments. Operations that only view their operand's memory (a reshape)
    have none of their own.

    Args:
        names: the names of the arguments. donated: True for each donated one.
    """
    walk = _Walk()
    jaxpr = program.jaxpr
    constants = [walk.new(CONSTANT, "", v.aval, None) for v in jaxpr.constvars]
    flags = [*donated, *[False] * (len(jaxpr.invars) - len(donated))]
    inputs = [walk.new(ARGUMENT, n, v.aval, None) for n, v in zip(names, jaxpr.invars)]
    outs = walk.run(jaxpr, [*constants, *inputs], ())
    schedule = walk.schedule
    if not schedule.steps:
        schedule.steps.append(Step("", None))
    last = len(schedule.steps) - 1
    for b in [*constants, *[b for b, is_donated in zip(inputs, flags) if not is_donated]]:
        b.end = last
    for v, b in zip(jaxpr.outvars, outs):
        if b is None or b.nbytes < nbytes(v.aval):  # a view is written to memory of its own
            schedule.buffers.append(Buffer(RESULT, "the result", v.aval, None, last, last))
        else:
            b.end = last
            b.kind = RESULT if b.kind == TEMPORARY else b.kind
    return schedule


class _Walk:
    """Schedules a program in order, and records the last use of each buffer."""

    def __init__(self) -> None:
        self.schedule = Liveness()
        self.location: Source | None = None  # of the equation, or of the call that it is part of

    @property
    def now(self) -> int:
        return len(self.schedule.steps)

    def new(self, kind: str, name: str, aval: Any, source: Source | None) -> Buffer:
        buffer = Buffer(kind, name, aval, source, self.now, self.now)
        self.schedule.buffers.append(buffer)
        return buffer

    def run(
        self, jaxpr: Jaxpr, inputs: Sequence[Buffer | None], loops: tuple[str, ...]
    ) -> list[Buffer | None]:
        """Schedule a program on these inputs; the buffers of its results (None for literals)."""
        env: dict[Any, Buffer | None] = dict(zip([*jaxpr.constvars, *jaxpr.invars], inputs))
        outer = self.location
        for eqn in jaxpr.eqns:
            self.location = eqn.source or outer
            ins = [env.get(x) if isinstance(x, Var) else None for x in eqn.invars]
            env.update(zip(eqn.outvars, self._eqn(eqn, ins, loops)))
        self.location = outer
        return [env.get(x) if isinstance(x, Var) else None for x in jaxpr.outvars]

    def _eqn(
        self, eqn: Eqn, ins: Sequence[Buffer | None], loops: tuple[str, ...]
    ) -> Sequence[Buffer | None]:
        if eqn.primitive.regions is not None:
            interface: RegionInterface = eqn.primitive.regions(eqn.params)
            if len(interface.regions) == 1 and not interface.is_loop and not interface.control:
                return self._call(interface.regions[0], eqn, ins, loops)
            return self._regions(eqn, interface, ins, loops)
        if len(eqn.outvars) == 1 and not eqn.effects and not work(eqn).flops:
            viewed = [b for b in ins if b is not None]
            if len(viewed) < 2:  # of a literal, no memory at all
                return viewed or [None]
        outs = self._results(eqn, eqn.primitive.name)
        self._step(eqn, ins, loops)
        return outs

    def _step(self, eqn: Eqn, used: Sequence[Buffer | None], loops: tuple[str, ...]) -> None:
        for b in used:
            if b is not None:
                b.end = self.now
        self.schedule.steps.append(Step(eqn.primitive.name, self.location, loops))

    def _call(
        self, region: Region, eqn: Eqn, ins: Sequence[Buffer | None], loops: tuple[str, ...]
    ) -> list[Buffer | None]:
        consts = self._constants(region.program)
        outs = self.run(region.program.jaxpr, [*consts, *[ins[i] for i in region.operands]], loops)
        schedule: list[Buffer | None] = [None] * len(eqn.outvars)
        for result, b in zip(region.results, outs):
            schedule[result] = b
        return schedule

    def _regions(
        self, eqn: Eqn, interface: RegionInterface, ins: Sequence[Buffer | None],
        loops: tuple[str, ...],
    ) -> list[Buffer]:  # fmt: skip
        """Schedule a loop or branches; operands, and results of a loop, are live all the time."""
        name, is_loop = interface.title or eqn.primitive.name, interface.is_loop
        outs = self._results(eqn, name) if is_loop else []
        for region in interface.regions:
            inner = region.program.jaxpr
            given = [
                self.new(TEMPORARY, f"{name}: one step's input", v.aval, self.location)
                if is_loop and interface.operands[i] is not Kind.CONSTANT
                else ins[i]
                for i, v in zip(region.operands, inner.invars)
            ]
            inside = (*loops, name) if is_loop else loops
            self.run(inner, [*self._constants(region.program), *given], inside)
        outs = outs or self._results(eqn, name)
        self._step(eqn, [*ins, *outs], loops)
        return outs

    def _results(self, eqn: Eqn, name: str) -> list[Buffer]:
        return [self.new(TEMPORARY, name, v.aval, self.location) for v in eqn.outvars]

    def _constants(self, program: ClosedJaxpr) -> list[Buffer]:
        return [self.new(CONSTANT, "", v.aval, None) for v in program.jaxpr.constvars]
