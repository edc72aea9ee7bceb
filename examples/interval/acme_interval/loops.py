"""Loops whose predicate is uncertain: parts of the set that bounds stand for leave early.

Per loop variable two values are carried: what may still run, which the body maps to what may run
next, and what may have left. When nothing may run any more the second is the result. A counter of
the iterations in which something may have left says whether there is a second value yet, and ends
a loop whose end never becomes certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dovetail_core import (
    CONTROL,
    AbstractValue,
    ClosedJaxpr,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    ShapedArray,
    algebra,
    jaxpr_as_fun,
    lift_call,
    lift_function,
)
from dovetail_xla.config import trace_context

_COUNT = ShapedArray((), np.int32)


class UncertainLoop:
    """One loop with a lifted predicate.

    ``ins`` are the structures to which operands rise in the loop, ``predicate`` the predicate's.
    """

    def __init__(
        self, carrier: Any, interface: RegionInterface, ins: Sequence[Any], predicate: Any
    ) -> None:
        self.carrier = carrier
        self.interface = interface
        self.ins = ins
        self.condition = next(r for r in interface.regions if CONTROL in r.results)
        self.body = next(r for r in interface.regions if CONTROL not in r.results)
        self.variable = dict(interface.loop)  # the operand of each result
        self.left = {i: carrier.join_structures(ins[i], predicate) for i in self.variable.values()}
        self.last = max(self.left)  # behind this variable stands the counter

    def run(self, primitive: Primitive, args: Sequence[Any]) -> list[Any]:
        """Bind the loop on both values of each variable; returns what may have left."""
        flat: list[Any] = []
        operands: list[Operand] = []
        for i, x in enumerate(args):
            # Nothing has left yet: no matter what stands in for it.
            values = [x, *([x] if i in self.left else [])]
            arrays = [y for v, s in zip(values, self._slots(i)) for y in self._arrays(v, s)]
            arrays += [np.int32(0)] * (i == self.last)
            flat += arrays
            operands += [Operand(self.interface.operands[i], i) for _ in arrays]
        programs = [
            self._program(self._step if r is self.body else self._may_go_on, r)
            for r in self.interface.regions
        ]
        params = self.interface.rebuild(programs, operands)
        return self._results(primitive.bind(*flat, **params))

    def _slots(self, operand: int) -> list[Any]:
        """The structures of the values that stand for an operand."""
        found = [self.ins[operand]]
        if operand in self.left:
            found.append(self.left[operand])
        if operand == self.last:
            found.append(self.carrier.structure(self.carrier.pure(False), 0))
        return found

    def _arrays(self, value: Any, structure: Any) -> tuple[Any, ...]:
        return self.carrier.arrays(value, structure, 0)

    def _program(self, f: Callable[..., list[Any]], region: Region) -> ClosedJaxpr:
        avals: list[AbstractValue] = []
        structures: list[Any] = []
        for i, aval in zip(region.operands, region.program.in_avals):
            slots = self._slots(i)
            structures += slots
            avals += [aval, aval, _COUNT][: len(slots)]
        wanted = None
        if region is self.body:
            wanted = [s for r in region.results for s in self._slots(self.variable[r])]
        carrier, program = self.carrier, region.program
        context = (self.condition.program, tuple(structures), trace_context())
        key = (UncertainLoop, type(carrier), carrier.key, region is self.body, context)
        found = program.cache.get(key)
        if found is None:
            name = program.jaxpr.name
            made, _ = lift_function(carrier, f, avals, structures, wanted, name)
            found = program.cache[key] = made
        return found

    def _split(
        self, operands: Iterable[int], values: Sequence[Any]
    ) -> tuple[dict[int, Any], dict[int, Any], Any]:
        """Per operand what runs, per variable what may have left, and the counter."""
        rest = iter(values)
        running: dict[int, Any] = {}
        left: dict[int, Any] = {}
        count: Any = None
        for i in operands:
            running[i] = next(rest)
            if i in self.left:
                left[i] = next(rest)
            if i == self.last:
                count = self.carrier.known(next(rest))
        return running, left, count

    def _test(self, running: dict[int, Any]) -> Any:
        values = [running[i] for i in self.condition.operands]
        return lift_call(self.carrier, jaxpr_as_fun(self.condition.program), values)[0]

    def _goes_on(self, count: Any) -> Any:
        return algebra().less(count, np.int32(self.carrier.widen_after))

    def _may_go_on(self, *values: Any) -> list[Any]:
        running, _, count = self._split(self.condition.operands, values)
        may = self.carrier.may(self._test(running))
        return [self.carrier.pure(algebra().select(self._goes_on(count), False, may))]

    def _step(self, *values: Any) -> list[Any]:
        carrier = self.carrier
        running, left, count = self._split(self.body.operands, values)
        ends = carrier.select(self._test(running), [carrier.pure(True), carrier.pure(False)])
        leaves = carrier.may(ends)
        new = lift_call(carrier, jaxpr_as_fun(self.body.program), list(running.values()))
        out: list[Any] = []
        for r, value in zip(self.body.results, new):
            i = self.variable[r]
            out += [value, self._collected(i, count, left[i], running[i], leaves)]
            if i == self.last:
                more = algebra().select(leaves, np.int32(0), np.int32(1))
                out.append(carrier.pure(algebra().add(count, more)))
        return out

    def _collected(self, i: int, count: Any, left: Any, running: Any, leaves: Any) -> Any:
        """What may have left once ``running`` has, where ``leaves``; else ``left``."""
        select, s = algebra().select, self.left[i]
        earlier = algebra().less(np.int32(0), count)
        both = self.carrier.join(left, running)
        found = [
            select(leaves, old, select(earlier, first, more))
            for old, first, more in zip(*(self._arrays(v, s) for v in (left, running, both)))
        ]
        return self.carrier.value(found, s, 0)

    def _results(self, results: Sequence[Any]) -> list[Any]:
        carrier = self.carrier
        avals = dict(zip(self.body.results, self.body.program.out_avals))
        rest = iter(results)
        values: list[Any] = []
        for r in sorted(self.variable):
            slots = self._slots(self.variable[r])
            for s, aval in zip(slots, [avals[r], avals[r], _COUNT]):
                arrays = [next(rest) for _ in carrier.types(aval, s)]
                values.append(carrier.value(arrays, s, 0))
        order = [self.variable[r] for r in sorted(self.variable)]
        running, left, count = self._split(order, values)
        ended = self._goes_on(count)
        out: list[Any] = []
        for r, i in zip(sorted(self.variable), order):
            found = self._collected(i, count, left[i], running[i], True)
            top, s = carrier.top(avals[r]), self.left[i]
            pairs = zip(self._arrays(top, s), self._arrays(found, s))
            arrays = [algebra().select(ended, x, y) for x, y in pairs]
            out.append(carrier.value(arrays, s, 0))
        return out
