"""Splitting a checkpointed program by a budget: kept values, and stages of the linear part."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dovetail_ad import Split
from dovetail_core import ClosedJaxpr, Jaxpr, Var, dce_closed

from ..parts import Parts, Stage, forward_program, without
from .graph import Graph
from .limit import Limit
from .schedule import Piece, Schedule
from .search import choose


@dataclass(frozen=True)
class Plan:
    """A budget's choice for one program.

    Attributes:
        known: the program whose values are kept or computed again.
        chosen, free: the chosen schedule, and the one without a limit.
        used: the chosen values that the backward pass reads.
    """

    budget: Limit
    known: ClosedJaxpr
    graph: Graph
    chosen: Schedule
    free: Schedule
    used: frozenset[Var]


listener: ContextVar[list[Plan] | None] = ContextVar("dovetail_remat_plans", default=None)
"""A list to which each plan in use is appended, or None."""


def planned(split: Split, known: ClosedJaxpr, linear: ClosedJaxpr, budget: Limit) -> Parts:
    """The two parts of a split program within a budget.

    Args:
        known, linear: the programs of ``split`` with calls inlined.
    """
    graph = Graph(known, linear, split)
    chosen, free = choose(graph, budget.target)
    if chosen.peak > budget.limit:
        warnings.warn(
            f"{budget} is less than what rematerialisation of {known.jaxpr.name!r} reaches: about "
            f"{chosen.peak} bytes are used at the peak. Loops need checkpoints of their own; a "
            "larger budget computes less again.",
            stacklevel=2,
        )
    used = _used(graph, chosen)
    kept = [v for v in graph.producer if v in used]
    stages, outs = _Stages(graph, known, linear, kept, chosen).all(chosen.pieces)
    plan = Plan(budget, known, graph, chosen, free, frozenset(used))
    forward = forward_program(known, kept, split.num_known_outputs)
    return Parts(split, forward, (None,) * len(kept), tuple(stages), tuple(outs), plan)


def _used(graph: Graph, chosen: Schedule) -> set[Var]:
    """The kept values that the backward pass reads."""
    read = {v for v in graph.required if v in chosen.kept}
    again = (e for p in chosen.pieces for e in p.again)
    return read | {v for e in again for v in graph.operands[e] if v in chosen.kept}


class _Stages:
    """Makes the programs of the stages."""

    def __init__(
        self,
        graph: Graph,
        known: ClosedJaxpr,
        linear: ClosedJaxpr,
        kept: Sequence[Var],
        chosen: Schedule,
    ) -> None:
        self.graph = graph
        self.linear = linear.jaxpr
        self.kept = dict.fromkeys(kept)
        self.given = [*kept, *known.jaxpr.invars]
        self.consts = dict(zip(known.jaxpr.constvars, known.consts))
        self.consts |= dict(zip(linear.jaxpr.constvars, linear.consts))
        unknown = linear.jaxpr.invars[len(graph.residual_of) :]
        self.numbers: dict[Var, int] = {v: i for i, v in enumerate(unknown)}
        self.last_use = self._last_uses()
        # If nothing is computed again, no barrier restricts the compiler.
        self.default = "kept" if chosen.again.flops else "nothing"

    def _last_uses(self) -> dict[Any, int]:
        result: dict[Any, int] = {}
        for i, eqn in enumerate(self.linear.eqns):
            result.update((x, i) for x in eqn.invars)
        result.update((x, len(self.linear.eqns)) for x in self.linear.outvars)
        return result

    def all(self, pieces: Sequence[Piece]) -> tuple[list[Stage], list[int]]:
        """The stages, and the numbers of the unknowns that are the program's results."""
        stages = [self._stage(p) for p in pieces]
        loose = [x for x in self.linear.outvars if x not in self.numbers]
        if loose:  # results that are known values or literals
            stages.append(self._loose(loose))
        numbers = {id(x): len(self.numbers) + i for i, x in enumerate(loose)}
        outs = [
            self.numbers[x] if x in self.numbers else numbers[id(x)] for x in self.linear.outvars
        ]
        return stages, outs

    def _stage(self, p: Piece) -> Stage:
        again = [without(self.graph.known[e], self.kept, {}) for e in p.again]
        eqns = self.linear.eqns[p.start : p.stop]
        inner = {v for e in eqns for v in e.outvars}
        read = [x for e in eqns for x in e.invars]
        takes = [v for v in dict.fromkeys(read) if v in self.numbers]
        outs = [v for e in eqns for v in e.outvars if self.last_use.get(v, -1) >= p.stop]
        renamed = [e.replace(invars=[self._known(x) for x in e.invars]) for e in eqns]
        program = self._program([e for e in again if e is not None] + renamed, takes, outs)
        numbers = tuple(self.numbers[v] for v in takes)
        self.numbers.update((v, len(self.numbers)) for v in outs if v in inner)
        barrier = "all" if any(self.graph.works[e].flops for e in p.again) else self.default
        return self._trimmed(program, len(takes), numbers, barrier)

    def _loose(self, atoms: Sequence[Any]) -> Stage:
        """A stage that returns known values, which are kept or inputs."""
        program = self._program([], [], [self._known(x) for x in atoms])
        return self._trimmed(program, 0, (), "nothing")

    def _known(self, x: Any) -> Any:
        return self.graph.residual_of.get(x, x) if isinstance(x, Var) else x

    def _program(self, eqns: Sequence[Any], takes: Sequence[Var], outs: Sequence[Any]) -> Any:
        read = {x for e in eqns for x in e.invars} | set(outs)
        constvars = [v for v in self.consts if v in read]
        jaxpr = Jaxpr(constvars, [*self.given, *takes], outs, eqns, name=self.linear.name)
        return ClosedJaxpr(jaxpr, [self.consts[v] for v in constvars])

    def _trimmed(
        self, program: ClosedJaxpr, count: int, takes: tuple[int, ...], barrier: Any
    ) -> Stage:
        keep = [False] * len(self.given) + [True] * count
        reduced, needed = dce_closed(program, [True] * len(program.out_avals), keep)
        return Stage(reduced, tuple(needed[: len(self.given)]), takes, barrier)
