"""Counting programs: what each operation costs, and each line of the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from dovetail_core import ClosedJaxpr, Eqn, reset_source_override, set_source_override
from dovetail_experimental.roofline import Flow, Nested, Run, cost_rules, line_of

from .entry import Entry
from .machine import Machine


class Tally(NamedTuple):
    """Entries of each operation alone, and of each run of operations of one line."""

    operations: list[Entry]
    lines: list[Entry]


@dataclass
class Counter:
    """Counts programs.

    Attributes:
        trips, branches: see :func:`roofline`. unknown: the loops of which trips were assumed.
    """

    machine: Machine
    trips: float
    branches: str
    unknown: dict[str, None] = field(default_factory=dict)

    def program(self, program: ClosedJaxpr, times: float) -> Tally:
        found, flow = Tally([], []), Flow()
        for eqn in program.eqns:
            token = set_source_override(eqn.source)  # what a decomposition does is of this line
            try:
                ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
                cost = cost_rules[eqn.primitive](ins, outs, **eqn.params)
                if not isinstance(cost, Nested):
                    flow.add(eqn, cost)
                    continue
                flow.end_run()
                flow.use(eqn.invars)
                for own, more in zip(found, self.nested(eqn, cost, times)):
                    own.extend(more)
            finally:
                reset_source_override(token)
        flow.use(program.jaxpr.outvars)
        for i, run in enumerate(flow.runs):
            alone = [self.entry(times, [op], flow.traffic([op], lambda v: True)) for op in run]
            found.operations.extend(e for e in alone if e.work or e.bytes)
            if run:
                found.lines.append(self.entry(times, run, flow.traffic(run, flow.leaves(i))))
        return found

    def entry(self, times: float, run: Run, traffic: tuple[float, float]) -> Entry:
        names = dict.fromkeys(e.primitive.name for e, c in run if not c.view or c.reads)
        sums = sum(c.flops for _, c in run), sum(c.transcendentals for _, c in run)
        flops, transcendentals, read, written = (times * n for n in (*sums, *traffic))
        place = line_of(run[0][0])
        what = ", ".join(names)
        return Entry(*place, what, times, flops, transcendentals, read, written, self.machine)

    def nested(self, eqn: Eqn, cost: Nested, times: float) -> Tally:
        if cost.times is None:
            file, number = line_of(eqn)
            self.unknown[f"{Path(file).name}:{number}"] = None
        times *= self.trips if cost.times is None else cost.times
        each = [self.program(p, times) for p in cost.programs]
        if cost.choice and self.branches == "max":
            return max(each, key=lambda tally: sum(e.seconds for e in tally.lines))
        return Tally([e for t in each for e in t[0]], [e for t in each for e in t[1]])
