"""When each value of a program is in memory: a schedule of its operations, and buffers."""

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
"""What a piece of memory holds."""


@dataclass(eq=False)
class Buffer:
    """A piece of memory: what is in it, and from which step of the schedule to which it is needed.

    Attributes:
        kind: one of argument, constant, temporary, result.
        name: of the argument, or of the operation whose result it is.
        source: the user's line behind it, if any.
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
    """An operation of the schedule; those of a loop are there once, and stand for each iteration.

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
        """The first step at which most is in memory."""
        timeline = self.timeline
        return timeline.index(max(timeline))

    def alive(self, step: int) -> list[Buffer]:
        """What is in memory during a step, the largest first."""
        result = [b for b in self.buffers if b.start <= step <= b.end and b.nbytes]
        return sorted(result, key=lambda b: -b.nbytes)


def liveness(program: ClosedJaxpr, names: Sequence[str], donated: Sequence[bool] = ()) -> Liveness:
    """The schedule of a program as it is written: one operation after the other.

    Calls are taken apart. Of loops one iteration is shown, and of branches all, one after the
    other. A value is in memory from its operation to its last use; arguments and constants are
    there all the time, but for arguments that are given away. What only says how its operand's
    memory is to be read (a reshape) has none of its own.

    Args:
        names: of the arguments. donated: which of them are given away.
    """
    walk = _Walk()
    jaxpr = program.jaxpr
    constants = [walk.new(CONSTANT, "", v.aval, None) for v in jaxpr.constvars]
    flags = [*donated, *[False] * (len(jaxpr.invars) - len(donated))]
    inputs = [walk.new(ARGUMENT, n, v.aval, None) for n, v in zip(names, jaxpr.invars)]
    outs = walk.run(jaxpr, [*constants, *inputs], ())
    found = walk.found
    if not found.steps:
        found.steps.append(Step("", None))
    last = len(found.steps) - 1
    for b in [*constants, *[b for b, gone in zip(inputs, flags) if not gone]]:
        b.end = last
    for v, b in zip(jaxpr.outvars, outs):
        if b is None or b.nbytes < nbytes(v.aval):  # what was read in another way is written out
            found.buffers.append(Buffer(RESULT, "the result", v.aval, None, last, last))
        else:
            b.end = last
            b.kind = RESULT if b.kind == TEMPORARY else b.kind
    return found


class _Walk:
    """Goes through a program in order, and notes who uses which buffer last."""

    def __init__(self) -> None:
        self.found = Liveness()
        self.place: Source | None = None  # of the equation, or of the call that it is part of

    @property
    def now(self) -> int:
        return len(self.found.steps)

    def new(self, kind: str, name: str, aval: Any, source: Source | None) -> Buffer:
        buffer = Buffer(kind, name, aval, source, self.now, self.now)
        self.found.buffers.append(buffer)
        return buffer

    def run(
        self, jaxpr: Jaxpr, inputs: Sequence[Buffer | None], loops: tuple[str, ...]
    ) -> list[Buffer | None]:
        """Schedule a program on these inputs; the buffers of its results (None for literals)."""
        env: dict[Any, Buffer | None] = dict(zip([*jaxpr.constvars, *jaxpr.invars], inputs))
        outer = self.place
        for eqn in jaxpr.eqns:
            self.place = eqn.source or outer
            ins = [env.get(x) if isinstance(x, Var) else None for x in eqn.invars]
            env.update(zip(eqn.outvars, self._eqn(eqn, ins, loops)))
        self.place = outer
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
        self.found.steps.append(Step(eqn.primitive.name, self.place, loops))

    def _call(
        self, region: Region, eqn: Eqn, ins: Sequence[Buffer | None], loops: tuple[str, ...]
    ) -> list[Buffer | None]:
        consts = self._constants(region.program)
        outs = self.run(region.program.jaxpr, [*consts, *[ins[i] for i in region.operands]], loops)
        found: list[Buffer | None] = [None] * len(eqn.outvars)
        for result, b in zip(region.results, outs):
            found[result] = b
        return found

    def _regions(
        self, eqn: Eqn, interface: RegionInterface, ins: Sequence[Buffer | None],
        loops: tuple[str, ...],
    ) -> list[Buffer]:  # fmt: skip
        """A loop or branches: operands are there all the time, and results of a loop, too."""
        name, is_loop = interface.title or eqn.primitive.name, interface.is_loop
        outs = self._results(eqn, name) if is_loop else []
        for region in interface.regions:
            inner = region.program.jaxpr
            given = [
                self.new(TEMPORARY, f"{name}: one step's input", v.aval, self.place)
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
        return [self.new(TEMPORARY, name, v.aval, self.place) for v in eqn.outvars]

    def _constants(self, program: ClosedJaxpr) -> list[Buffer]:
        return [self.new(CONSTANT, "", v.aval, None) for v in program.jaxpr.constvars]
