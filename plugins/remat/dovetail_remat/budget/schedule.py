"""The order of the backward pass for a choice of kept values, and the memory that it takes.

Other values are computed again in stages: the linear program is cut at positions where (almost) no
recomputed value is used on both sides, and each piece computes its own values again when the
backward pass reaches it.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate, pairwise

from dovetail_core import Var
from dovetail_cost import Work

from .graph import Graph

_TRIFLE = 1e-4
"""The fraction of the forward pass that may be computed in two stages without loss."""


@dataclass(frozen=True)
class Piece:
    """A piece of the linear program.

    Attributes:
        start, stop: the range of its equations.
        again: known equations that it computes again, in order.
        memory: bytes of the values that it computes again.
    """

    start: int
    stop: int
    again: tuple[int, ...]
    memory: int


@dataclass(frozen=True)
class Schedule:
    """Pieces of the linear program in order, and their cost.

    Attributes:
        kept: the kept values.
        again: the work that is done again.
        timeline: estimated bytes in use at each step: the known equations, then the linear ones
            from the last to the first.
    """

    kept: frozenset[Var]
    pieces: tuple[Piece, ...]
    again: Work
    timeline: tuple[int, ...]

    @property
    def peak(self) -> int:
        """The most bytes in use at any step."""
        return max(self.timeline, default=0)


def schedule(graph: Graph, kept: frozenset[Var]) -> Schedule:
    """The best order of the backward pass if ``kept`` is kept."""
    spans = _spans(graph, kept)
    pieces = _merged(graph, _pieces(graph, spans), kept)
    flops = sum(graph.works[i].flops for p in pieces for i in p.again)
    moved = sum(graph.works[i].bytes for p in pieces for i in p.again)
    timeline = (*_forward(graph, kept), *_backward(graph, kept, pieces))
    return Schedule(kept, pieces, Work(flops, moved), timeline)


def _spans(graph: Graph, kept: frozenset[Var]) -> dict[int, tuple[int, int]]:
    """Per known equation that is computed again, the first and last linear one that needs it."""
    spans: dict[int, tuple[int, int]] = {}

    def want(v: Var, first: int, last: int) -> None:
        if v not in kept:
            e = graph.producer[v]
            a, b = spans.get(e, (first, last))
            spans[e] = min(a, first), max(b, last)

    for v, users in graph.required.items():
        want(v, users[0], users[-1])
    for e in range(len(graph.known) - 1, -1, -1):
        if e in spans:
            for v in graph.operands[e]:
                want(v, *spans[e])
    return spans


def _pieces(graph: Graph, spans: dict[int, tuple[int, int]]) -> list[Piece]:
    """Cut the linear program where hardly any recomputed value is used on both sides."""
    n = len(graph.linear)
    steps = [0.0] * (n + 2)
    for e, (first, last) in spans.items():
        steps[first + 1] += graph.works[e].cost
        steps[last + 1] -= graph.works[e].cost
    tolerance = _TRIFLE * graph.forward.cost
    crossing = list(accumulate(steps))
    light = (i for i in range(1, n) if crossing[i] <= tolerance)
    cuts = [0, *(i for i in light if i not in graph.inseparable), n]
    pairs = [(a, b) for a, b in pairwise(cuts) if b > a] or [(0, n)]
    again: list[list[int]] = [[] for _ in pairs]
    starts = [a for a, _ in pairs]
    for e, (first, last) in spans.items():
        for k in range(bisect(starts, first) - 1, bisect(starts, min(last, n - 1))):
            again[k].append(e)
    return [_piece(graph, a, b, sorted(es)) for (a, b), es in zip(pairs, again)]


def _piece(graph: Graph, start: int, stop: int, again: list[int]) -> Piece:
    return Piece(start, stop, tuple(again), _memory(graph, again))


def _memory(graph: Graph, again: list[int]) -> int:
    return sum(
        graph.sizes[v] for e in again for v in graph.known[e].outvars if v in graph.materialised
    )


def _merged(graph: Graph, pieces: list[Piece], kept: frozenset[Var]) -> tuple[Piece, ...]:
    """Join adjacent pieces if the peak does not grow: fewer barriers restrict the compiler less."""
    most = max((p.memory for p in pieces), default=0)
    result: list[Piece] = []
    for p in pieces:
        if result and _heavy(graph, result[-1]) == _heavy(graph, p):
            last = result[-1]
            again = sorted({*last.again, *p.again})
            joined = _piece(graph, last.start, p.stop, again)
            if joined.memory <= most:
                result[-1] = joined
                continue
        result.append(p)
    return tuple(result)


def _heavy(graph: Graph, p: Piece) -> bool:
    """True if the piece computes operations again that are not free."""
    return any(graph.works[e].flops for e in p.again)


def _forward(graph: Graph, kept: frozenset[Var]) -> list[int]:
    """Bytes in use after each known equation: kept values so far, and temporary ones."""
    last: dict[Var, int] = {}
    for i, eqn in enumerate(graph.known):
        last.update((x, i) for x in eqn.invars if isinstance(x, Var))
    held, passing = 0, 0
    ends: dict[int, int] = {}
    result: list[int] = []
    for i, eqn in enumerate(graph.known):
        for v in eqn.outvars:
            if v in kept:
                held += graph.sizes[v]
            elif v in graph.materialised and v in last:
                passing += graph.sizes[v]
                ends[last[v]] = ends.get(last[v], 0) + graph.sizes[v]
        result.append(held + passing)
        passing -= ends.get(i, 0)
    return result


def _backward(graph: Graph, kept: frozenset[Var], pieces: tuple[Piece, ...]) -> list[int]:
    """Bytes in use at each linear equation, from the last to the first."""
    first_use = _first_uses(graph, kept, pieces)
    released = [0] * (len(graph.linear) + 1)
    for v, at in first_use.items():
        released[at] += graph.sizes[v]
    held = sum(graph.sizes[v] for v in first_use)
    result: list[int] = []
    for p in reversed(pieces):
        for i in range(p.stop - 1, p.start - 1, -1):
            result.append(held + p.memory + graph.cotangents[i])
            held -= released[i]
    return result


def _first_uses(graph: Graph, kept: frozenset[Var], pieces: tuple[Piece, ...]) -> dict[Var, int]:
    """Per kept value, the first linear equation that needs it, after which its memory is free."""
    result = {v: users[0] for v, users in graph.required.items() if v in kept}
    for p in pieces:
        for e in p.again:
            for v in graph.operands[e]:
                if v in kept:
                    result[v] = min(result.get(v, p.start), p.start)
    return {v: min(at, len(graph.linear)) for v, at in result.items()}
