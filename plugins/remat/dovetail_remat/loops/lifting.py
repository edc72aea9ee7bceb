"""Forward and reverse passes on lifted values (batched ones, or high ones made of low ones).

The loop is lifted; its schedule, and so the control integers, are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dovetail_core import lift_structures

from .description import Loop, regions_of
from .primitives import forward_p, reverse_p
from .second import operands_of
from .steps import pick

Carrier = Any


def lifted_forward(carrier: Carrier, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """``checkpointed_forward`` on lifted operands."""
    loop, stored = Loop.of(params), params["stored"]
    interface = regions_of(loop.params)
    ins = [carrier.structure(x, interface.depth(k)) for k, x in enumerate(args)]
    lifted = lift_structures(carrier, interface, ins)
    operands = [
        a
        for k, (x, s) in enumerate(zip(args, lifted.operands))
        for a in carrier.arrays(x, s, interface.depth(k))
    ]
    nk = loop.num_carry
    widths = _widths(carrier, loop.body.out_avals, lifted.results)
    keep = _spread(stored, widths[:nk])
    result = iter(forward_p.bind(*operands, **lifted.params, stored=keep))
    structures = [*lifted.results, *pick(lifted.results[:nk], stored)]
    widths += pick(widths[:nk], stored)
    outs: list[Any] = []
    for k, (n, s) in enumerate(zip(widths, structures)):
        outs.append(carrier.value(_take(result, n), s, int(k >= nk)))
    return [*outs, carrier.pure(next(result))]


forward_p.lift = lifted_forward


def lifted_reverse(
    carrier: Carrier,
    args: Sequence[Any],
    params: dict[str, Any],
    structure_of: Callable[[Any], Any],
) -> list[Any]:
    """``checkpointed_reverse`` on lifted operands.

    Unknowns and cotangents have the structure ``structure_of(type)``; known values have that of
    their operands, joined with that which the loop gives them.
    """
    return _Reverse(carrier, args, params, structure_of).run()


class _Reverse:
    def __init__(
        self,
        carrier: Carrier,
        args: Sequence[Any],
        params: dict[str, Any],
        structure_of: Callable[[Any], Any],
    ) -> None:
        self.carrier = carrier
        self.args = args
        self.params = params
        self.structure_of = structure_of
        self.loop = Loop.of(params)
        self.unknown: tuple[bool, ...] = params["unknown"]
        self.start, self.middle, _ = operands_of(params, args)
        interface = regions_of(self.loop.params)
        self.depths = [interface.depth(k) for k in range(len(self.unknown))]
        self.lifted = lift_structures(carrier, interface, self._structures())

    def _structures(self) -> list[Any]:
        known = iter(self.args[self.start : self.middle])
        rows = zip(self.loop.body.in_avals, self.unknown, self.depths)
        return [
            self.structure_of(a) if u else self.carrier.structure(next(known), depth)
            for a, u, depth in rows
        ]

    def run(self) -> list[Any]:
        loop, nk = self.loop, self.loop.num_carry
        avals: Sequence[Any] = loop.body.in_avals
        widths = _widths(self.carrier, avals, self.lifted.operands)
        y_widths = _widths(self.carrier, loop.body.out_avals[nk:], self.lifted.results[nk:])
        operands = [*self._kept(), *self._known(), *self._cotangents()]
        result = iter(
            reverse_p.bind(
                *[a for x, s, depth in operands for a in self.carrier.arrays(x, s, depth)],
                **self.lifted.params,
                unknown=_spread(self.unknown, widths),
                given=_spread(self.params["given"], y_widths),
                cached=self.params["cached"],
            )
        )
        rows = zip(avals, widths, self.depths, self.unknown)
        return [
            self.carrier.value(_take(result, n), self.structure_of(a.cotangent_type()), depth)
            for a, n, depth, u in rows
            if u
        ]

    # Operands with their structures and depths.

    def _kept(self) -> list[tuple[Any, Any, int]]:
        if not self.start:
            return []
        control, *states = self.args[: self.start]
        carry, flags = (self.loop.parts(x)[1] for x in (self.lifted.operands, self.unknown))
        structures = pick(carry, flags, False)
        pure = self.carrier.structure(control, 0)
        return [(control, pure, 0), *((x, s, 1) for x, s in zip(states, structures, strict=True))]

    def _known(self) -> list[tuple[Any, Any, int]]:
        structures = pick(self.lifted.operands, self.unknown, False)
        depths = pick(self.depths, self.unknown, False)
        return list(zip(self.args[self.start : self.middle], structures, depths, strict=True))

    def _cotangents(self) -> list[tuple[Any, Any, int]]:
        nk = self.loop.num_carry
        avals: Sequence[Any] = self.loop.body.out_avals
        types = [(a, 0) for a in pick(avals[:nk], self.loop.parts(self.unknown)[1])]
        types += [(a, 1) for a in pick(avals[nk:], self.params["given"])]
        cts = self.args[self.middle :]
        return [
            (x, self.structure_of(a.cotangent_type()), depth)
            for x, (a, depth) in zip(cts, types, strict=True)
        ]


def _spread(flags: Sequence[bool], widths: Sequence[int]) -> tuple[bool, ...]:
    return tuple(f for f, n in zip(flags, widths, strict=True) for _ in range(n))


def _widths(carrier: Carrier, avals: Sequence[Any], structures: Sequence[Any]) -> list[int]:
    return [len(carrier.types(a, s)) for a, s in zip(avals, structures)]


def _take(arrays: Iterator[Any], count: int) -> list[Any]:
    return [next(arrays) for _ in range(count)]
