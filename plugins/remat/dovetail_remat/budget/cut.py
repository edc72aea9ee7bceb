"""The cheapest choice of values to keep at a price of memory: a minimum cut.

For each value ``v`` let ``M(v)`` say that the backward pass has it, and for each operation ``e``
let ``R(e)`` say that ``e`` is computed again. With a price of ``p`` per byte the choice costs

    sum of cost(e) over R(e)  +  sum of p * bytes(v) over M(v) and not R(producer of v)

subject to ``M`` of every value that is required, and to ``M`` of all operands of ``e`` where
``R(e)``. Each term is the capacity of one edge that is cut when its tail is true and its head is
false: an edge from the source forces, edges of infinite capacity are implications, ``M(v) -> R(e)``
is the price of keeping ``v``, and ``R(e) -> sink`` the cost of computing ``e`` again. So the
cheapest choice is a minimum cut, whose source side is what is true.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Var

from .graph import Graph

_INFINITE = 2**31 - 1
_SCALE = 2**29
"""Sum of all finite capacities as integers, so that no flow can overflow 32 bits."""


class Network:
    """The network of a graph, whose prices can be changed."""

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
