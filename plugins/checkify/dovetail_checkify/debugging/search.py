"""Search of a program for the first nan or infinity, by an interpretation.

A first pass, which computes nothing, lists the operations and loops in the order in which the
second one runs them. The state of the second one is the number of the operation, the index in its
result, some elements of its operands, and a counter for each loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_base.source import BackwardSource, Source, get_override
from dovetail_core import (
    CONTROL,
    ClosedJaxpr,
    Eqn,
    Interpreter,
    RegionInterface,
    mutable_values,
    stage,
    typeof,
)
from dovetail_jit import jit

from .finding import Finding, Kind, Loop, can_be, is_floating, lines, no_views, views
from .mapped import axes_of


class _Around(NamedTuple):
    """A loop that encloses an operation; ``in_condition`` if the operation is in its condition."""

    number: int
    title: str
    source: Source | None
    in_condition: bool


class _Application(NamedTuple):
    """An operation of a program, its source line, and the enclosing loops."""

    eqn: Eqn
    source: Source | None
    loops: tuple[_Around, ...]


class _Walk(Interpreter):
    """Visits the operations of a program in a fixed order, in sub-programs too."""

    def __init__(self, state: Sequence[Any] = ()) -> None:
        super().__init__(state)
        self.around: tuple[_Around, ...] = ()
        self.loop = 0
        self.counts = [0, 0]  # of loops and operations: one list for all copies

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        if eqn.primitive.traits.effect_only:
            return []  # its effect has happened in the first run
        regions = eqn.primitive.regions
        if regions is not None and (interface := regions(eqn.params)).runs != "in any order":
            if interface.is_loop:
                self.loop = self.counts[0]
                self.counts[0] += 1
                self.begin(self.loop)
            return NotImplemented
        if not any(can_be(v.aval) for v in eqn.outvars):
            return NotImplemented
        number = self.counts[1]
        self.counts[1] += 1
        return self.meet(number, eqn, args)

    def enter(self, interface: RegionInterface, n: int) -> None:
        if interface.is_loop:
            in_condition = CONTROL in interface.regions[n].results
            loop = _Around(self.loop, interface.title, get_override(), in_condition)
            self.around = (*self.around, loop)
            if all(CONTROL in r.results for r in interface.regions[:n]) and not in_condition:
                self.again(self.loop)

    def begin(self, loop: int) -> None:
        """A loop begins."""

    def again(self, loop: int) -> None:
        """An iteration of it begins."""

    def meet(self, number: int, eqn: Eqn, args: list[Any]) -> Any:
        """The results of an operation, or NotImplemented."""
        raise NotImplementedError


class _Lister(_Walk):
    def __init__(self) -> None:
        super().__init__()
        self.applications: list[_Application] = []

    def meet(self, number: int, eqn: Eqn, args: list[Any]) -> Any:
        self.applications.append(_Application(eqn, get_override(), self.around))
        return NotImplemented


FIXED = 6


class _Searcher(_Walk):
    """The state: the number of the operation (-1: none), a flag that no operand had such a number,
    the result and the index in it, views of the operands; counters of the loops at that operation,
    and current ones."""

    def __init__(self, kind: Kind, loops: int) -> None:
        result = [np.int32(-1), np.False_, np.int32(0), np.int32(0), *no_views()]
        super().__init__([*result, *[np.int32(0)] * (2 * loops)])
        self.kind = kind
        self.first_counter = FIXED + loops

    def begin(self, loop: int) -> None:
        self._count(loop, np.int32(-1))

    def again(self, loop: int) -> None:
        self._count(loop, lax.add(self.state[self.first_counter + loop], np.int32(1)))

    def _count(self, loop: int, value: Any) -> None:
        state = list(self.state)
        state[self.first_counter + loop] = value
        self.state = state

    def joined(
        self, interface: RegionInterface, before: Sequence[Any], after: Sequence[Any]
    ) -> Any:
        """The state of the first device that has such an operation, preferably with its origin."""
        written = [x is not y for x, y in zip(before, after)]
        if not written[0]:  # counters alone, which are the same for all of them
            at: Any = np.int32(0)
        else:
            result = lax.ge(after[0], np.int32(0)), after[1]
            rank = lax.add(*[lax.convert_element_type(x, np.int32) for x in result])
            at = lax.argmax(rank, 0, np.int32)
        return [
            lax.dynamic_index_in_dim(x, at, 0, keepdims=False) if w else x
            for x, w in zip(after, written)
        ]

    def meet(self, number: int, eqn: Eqn, args: list[Any]) -> Any:
        out = eqn.primitive.bind(*args, **eqn.params)
        outs = list(out) if eqn.primitive.multiple_results else [out]
        inherited: Any = np.False_
        for x in args:
            if is_floating(x):
                inherited = lax.bitwise_or(inherited, _any(self.kind.traced(x)))
        for i, x in enumerate(outs):
            if is_floating(x):
                self._note(number, i, x, args, inherited)
        return outs

    def _note(self, number: int, i: int, x: Any, args: Sequence[Any], inherited: Any) -> None:
        """Keep the operation if it is the first; one whose operands are free of it has priority."""
        result = self.kind.traced(x)
        is_origin = lax.bitwise_and(_any(result), lax.bitwise_not(inherited))
        is_first = lax.bitwise_and(_any(result), lax.lt(self.state[0], np.int32(0)))
        better = lax.bitwise_and(is_origin, lax.bitwise_not(self.state[1]))
        take, at = lax.bitwise_or(is_first, better), _first(result)
        counters = self.state[self.first_counter :]
        new = [np.int32(number), is_origin, np.int32(i), at, *views(args, typeof(x), at), *counters]
        self.state = [*[lax.select(take, y, z) for y, z in zip(new, self.state)], *counters]


def search(
    kind: Kind, program: ClosedJaxpr, operands: Sequence[Any], source: Source | None = None
) -> Finding | None:
    """The operation of a program that first returns a nan or infinity; None if there is none.

    The program is run again. Prints are not repeated, but functions that it calls for their results
    are called.

    Args:
        source: the source line of all its operations, instead of their own.
    """
    program = mutable_values.discharge(program)  # contents of references become operands
    lister = _Lister()
    stage(lambda *xs: lister.run(program, xs), program.in_avals)
    loops = lister.counts[0]

    def state(*xs: Any) -> list[Any]:
        searcher = _Searcher(kind, loops)
        searcher.run(program, xs)
        return searcher.state

    values = [np.asarray(x) for x in jit(state)(*operands)]
    number, is_origin, result, at = (x.item() for x in values[:4])
    if number < 0:
        return None
    counters = [int(x) for x in values[FIXED:]]
    eqn, own, around = lister.applications[number]
    aval: Any = eqn.outvars[result].aval
    return Finding(
        kind.name,
        f"primitive {eqn.primitive.name}",
        source or own,
        aval.str_short(),
        tuple(int(k) for k in np.unravel_index(at, aval.shape)),
        lines(eqn, aval, values[4], values[5]),
        [Loop(a.title, source or a.source, counters[a.number] + a.in_condition) for a in around],
        axes_of(eqn, result),
        any(isinstance(a.source, BackwardSource) for a in lister.applications),
        is_origin,
    )


def _any(x: Any) -> Any:
    return lax.reduce_or(x, tuple(range(len(typeof(x).shape))))  # type: ignore[attr-defined]


def _first(x: Any) -> Any:
    aval: Any = typeof(x)
    return lax.argmax(lax.reshape(x, (aval.size,)), 0, np.int32) if aval.size else np.int32(0)
