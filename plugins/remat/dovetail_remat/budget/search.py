"""Finding what to keep within a budget: a search over prices and seams, then single values.

A price of memory alone does not find everything: in a chain of equal blocks no value is cheaper to
compute again than another, so at one price all are kept and at the next none is, and then all is
computed again at one time. So the search also tries *seams*: places where little is alive, at equal
distances of work, whose values are kept whatever the price. Between two seams the backward pass
has only their block to compute again (with seams at distances of sqrt(n) this is the classical
scheme of Chen et al., 2016).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import inf

from dovetail_core import Var

from .cut import Network
from .graph import Graph
from .schedule import Schedule, schedule

_PRICES = [0.0, *(10.0 ** (k / 3) for k in range(-6, 14))]
"""In flops per byte: from where only free operations are computed again to where all are."""
_COARSE = (1.0, 10.0, 100.0, 1e4)
_SEAMS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
_ENOUGH = 0.02
"""Work that is done again, as a part of the forward pass, at which the search ends."""


def choose(graph: Graph, budget: float) -> tuple[Schedule, Schedule]:
    """The cheapest schedule found within ``budget`` bytes, and the one where memory costs nothing.

    Where none fits, the one of least memory is returned.
    """
    network = Network(graph)
    seen: dict[frozenset[Var], Schedule] = {}

    def at(price: float, seams: frozenset[Var] = frozenset()) -> Schedule:
        kept = frozenset(network.cheapest(price, seams))
        if kept not in seen:
            seen[kept] = schedule(graph, kept)
        return seen[kept]

    free = at(0.0)
    if free.peak <= budget:
        return free, free
    best = min((at(p) for p in _PRICES), key=lambda s: _order(s, budget))
    if best.peak > budget or best.again.cost > _ENOUGH * graph.forward.cost:
        sewn = (at(p, seams) for seams in _seams(graph) for p in _COARSE)
        best = min((best, *sewn), key=lambda s: _order(s, budget))
    if best.peak <= budget:
        best = _filled(graph, best, budget)
    return best, free


def _order(s: Schedule, budget: float) -> tuple[float, float]:
    """Schedules that fit come first, the cheapest of them before the others."""
    return (0.0, s.again.cost) if s.peak <= budget else (float(s.peak), inf)


def _seams(graph: Graph) -> Iterator[frozenset[Var]]:
    """For several numbers of blocks of equal work: what is alive at the seams between them."""
    alive = _alive(graph)
    sizes = [sum(graph.sizes[v] for v in values) for values in alive]
    done = list(accumulate(w.cost for w in graph.works))
    total = done[-1] if done else 0.0
    for count in _SEAMS:
        result: set[Var] = set()
        for k in range(1, count):
            low, high = (total * (k + d) / count for d in (-0.5, 0.5))
            near = [i for i, c in enumerate(done) if low <= c < high and sizes[i]]
            if near:
                result |= alive[min(near, key=lambda i: (sizes[i], i))]
        yield frozenset(result)


def _alive(graph: Graph) -> list[set[Var]]:
    """After each known equation, the values that later ones read."""
    last: dict[Var, int] = {}
    for i, values in enumerate(graph.operands):
        last.update((v, i) for v in values)
    result: list[set[Var]] = []
    now: set[Var] = set()
    for i, eqn in enumerate(graph.known):
        now = {v for v in now if last[v] > i} | {v for v in eqn.outvars if last.get(v, -1) > i}
        result.append(now)
    return result


def _filled(graph: Graph, chosen: Schedule, budget: float) -> Schedule:
    """Keep more of what is expensive to compute again, as long as the budget allows."""
    again = {e for p in chosen.pieces for e in p.again}
    worth = [
        (graph.works[e].cost / max(sum(graph.sizes[v] for v in graph.known[e].outvars), 1), e)
        for e in again
    ]
    for _, e in sorted(worth, reverse=True)[:64]:
        more = chosen.kept | set(graph.known[e].outvars)
        result = schedule(graph, more)
        if result.peak <= budget and result.again.cost < chosen.again.cost:
            chosen = result
    return chosen
