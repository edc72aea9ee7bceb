"""Choice of kept values within a budget: a search over prices and seams, then single values.

A price of memory alone does not find everything: in a chain of equal blocks no value is cheaper to
compute again than another, so at one price all are kept and at the next none is, and then all is
computed again at one time. So the search also tries *seams*: positions in the program where few
bytes are alive, at equal distances of work, whose values are kept at any price. Between two seams
the backward pass computes only one block again (with seams at distances of sqrt(n) this is the
scheme of Chen et al., 2016).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import inf
from typing import Any

import numpy as np

from dovetail_core import Var

from .graph import Graph
from .schedule import Schedule, schedule

_INFINITE = 2**31 - 1
_SCALE = 2**29
"""Sum of all finite capacities as integers, so that no flow can overflow 32 bits."""


class Network:
    """A flow network whose minimum cut is the cheapest choice of kept values at a price of memory.

    For each value ``v`` let ``M(v)`` mean that the backward pass has it, and for each operation
    ``e`` let ``R(e)`` mean that ``e`` is computed again. At a price of ``p`` per byte the choice
    costs

        sum of cost(e) over R(e)  +  sum of p * bytes(v) over M(v) and not R(producer of v)

    subject to ``M`` of every required value, and to ``M`` of all operands of ``e`` if ``R(e)``.
    Each term is the capacity of one edge that is cut when its tail is true and its head is false:
    edges from the source are requirements, edges of infinite capacity are implications,
    ``M(v) -> R(e)`` is the price of keeping ``v``, and ``R(e) -> sink`` the cost of computing ``e``
    again. So the cheapest choice is a minimum cut, whose source side is true.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        operations, values = _reached(graph)
        self.values = values
        value_at = {v: 2 + i for i, v in enumerate(values)}
        operation_at = {e: 2 + len(values) + i for i, e in enumerate(operations)}
        self.count = 2 + len(values) + len(operations)
        self.operation_of = [operation_at[graph.producer[v]] for v in values]
        tails, heads, costs, bytes_ = [], [], [], []

        def edge(tail: int, head: int, cost: float, size: float = 0.0) -> None:
            tails.append(tail)
            heads.append(head)
            costs.append(cost)
            bytes_.append(size)

        self.kept_by: dict[Var, int] = {}
        for v in values:
            self.kept_by[v] = len(tails)
            edge(value_at[v], operation_at[graph.producer[v]], 0.0, graph.sizes[v])
            if v in graph.required:
                edge(0, value_at[v], np.inf)
        for e in operations:
            edge(operation_at[e], 1, np.inf if graph.fixed[e] else graph.works[e].cost)
            for v in graph.operands[e]:
                edge(operation_at[e], value_at[v], np.inf)
        self.tails, self.heads = np.array(tails), np.array(heads)
        self.costs, self.bytes = np.array(costs), np.array(bytes_)

    def cheapest(self, price: float, given: frozenset[Var] = frozenset()) -> set[Var]:
        """The values to keep where a byte costs as much as ``price`` flops.

        Args:
            given: values that cost nothing to keep.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        if not self.values:
            return set()
        capacity = self.costs + price * self.bytes
        capacity[[self.kept_by[v] for v in given if v in self.kept_by]] = 0.0
        finite = np.isfinite(capacity)
        scale = _SCALE / max(float(capacity[finite].sum()), 1e-30)
        scaled = np.full(len(capacity), _INFINITE, np.int32)
        scaled[finite] = np.maximum(np.rint(capacity[finite] * scale), 1).astype(np.int32)
        scaled[capacity == 0.0] = 0
        shape = (self.count, self.count)
        network: Any = csr_array((scaled, (self.tails, self.heads)), shape=shape)
        flow = maximum_flow(network, 0, 1).flow
        left = network - flow
        left.data[left.data < 0] = 0
        left.eliminate_zeros()
        reached = np.zeros(self.count, bool)
        reached[breadth_first_order(left, 0, return_predecessors=False)] = True
        return {
            v
            for i, (v, e) in enumerate(zip(self.values, self.operation_of))
            if reached[2 + i] and not reached[e]
        }


def _reached(graph: Graph) -> tuple[list[int], list[Var]]:
    """The operations that required values may be computed again by, and the values between."""
    todo = list(graph.required)
    values = dict.fromkeys(todo)
    operations: dict[int, None] = {}
    while todo:
        e = graph.producer[todo.pop()]
        if e in operations:
            continue
        operations[e] = None
        for v in graph.operands[e]:
            if v not in values:
                values[v] = None
                todo.append(v)
    return sorted(operations), list(values)


_PRICES = [0.0, *(10.0 ** (k / 3) for k in range(-6, 14))]
"""In flops per byte: from where only free operations are computed again to where all are."""
_COARSE = (1.0, 10.0, 100.0, 1e4)
_SEAMS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
_ENOUGH = 0.02
"""Work that is done again, as a part of the forward pass, at which the search ends."""


def choose(graph: Graph, budget: float) -> tuple[Schedule, Schedule]:
    """The cheapest schedule within ``budget`` bytes of those tried, and the one without a limit.

    If none fits, the one of least memory is returned.
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
    """The values alive at the seams between blocks of equal work, for several numbers of blocks."""
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
    """Keep more values that are expensive to compute again, as far as the budget allows."""
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
