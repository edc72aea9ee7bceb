"""Lowering branches and loops to ``stablehlo.case`` and ``stablehlo.while``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ClosedJaxpr, ShapedArray

from ...primitives.control_flow import (
    Parts,
    branch_for,
    cond_p,
    platform_dependent_p,
    scan_p,
    while_p,
    while_parts,
)

INDEX = ShapedArray((), np.int32)
BOOL = ShapedArray((), np.bool_)


@stablehlo_rules.register(cond_p)
def _cond_stablehlo(b: Any, index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> Any:
    return b.case(index, branches, operands)


@stablehlo_rules.register(platform_dependent_p)
def _platform_dependent(
    b: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...], platforms: Any
) -> Any:
    return b.inline(branch_for(b.platform, branches, platforms), operands)


@stablehlo_rules.register(while_p)
def _while_stablehlo(b: Any, *operands: Any, **params: Any) -> Any:
    loop = while_parts(operands, params)
    if loop.condition.effects:
        return _while_testing_last(b, loop)
    return b.while_loop(
        loop.carry,
        lambda b, *xs: b.inline(loop.condition, [*loop.condition_consts, *xs]),
        lambda b, *xs: b.inline(loop.body, [*loop.body_consts, *xs]),
        (loop.condition, loop.body),
    )


def _while_testing_last(b: Any, loop: Parts) -> list[Any]:
    """A loop that carries its predicate: XLA skips conditions where it can count the passes."""
    condition, consts, carry = loop.condition, loop.condition_consts, loop.carry

    def step(b: Any, _: Any, *xs: Any) -> list[Any]:
        ys = b.inline(loop.body, [*loop.body_consts, *xs])
        return [*b.inline(condition, [*consts, *ys]), *ys]

    first = b.inline(condition, [*consts, *carry])
    programs = (condition, loop.body)
    return b.while_loop([*first, *carry], lambda b, go_on, *xs: [go_on], step, programs)[1:]


@stablehlo_rules.register(scan_p)
def _scan_stablehlo(b: Any, *operands: Any, **params: Any) -> Any:
    nc, nk = params["num_consts"], params["num_carry"]
    consts, init, xs = operands[:nc], list(operands[nc : nc + nk]), operands[nc + nk :]
    return _Scan(b, consts, xs, params).run(init)


class _Scan:
    """Emits a scan: a while loop over full groups of ``unroll`` steps, then the rest of them."""

    def __init__(self, b: Any, consts: Sequence[Any], xs: Sequence[Any], params: Any) -> None:
        self.b = b
        self.consts = consts
        self.xs = xs
        self.program: ClosedJaxpr = params["jaxpr"]
        self.length: int = params["length"]
        self.reverse: bool = params["reverse"]
        self.unroll: int = params["unroll"]
        self.num_carry: int = params["num_carry"]
        self.y_types: list[Any] = list(b.outs[self.num_carry :])

    def run(self, carry: list[Any]) -> list[Any]:
        b = self.b
        outs = list(b.outs)
        ys = [
            b.as_told(b.broadcast(b.constant(0, a.update(shape=())), a.shape, ()), a)
            for a in self.y_types
        ]
        state = [b.constant(0, INDEX), *carry, *ys]
        groups, rest = divmod(self.length, self.unroll)
        if groups > 1 or (groups == 1 and self.unroll == 1 and self.length > 1):
            state = self._loop(state, groups)
        else:
            rest += groups * self.unroll
        for _ in range(rest):
            state = self._step(b, state)
        b.outs = tuple(outs)
        return state[1:]

    def _loop(self, state: list[Any], groups: int) -> list[Any]:
        def condition(b: Any, i: Any, *_: Any) -> list[Any]:
            end = b.constant(groups * self.unroll, INDEX)
            attrs = "comparison_direction = #stablehlo<comparison_direction LT>"
            return [b.op("stablehlo.compare", [i, end], BOOL, attrs)]

        def body(b: Any, *state: Any) -> list[Any]:
            now = list(state)
            for _ in range(self.unroll):
                now = self._step(b, now)
            return now

        return self.b.while_loop(state, condition, body, (self.program,))

    def _step(self, b: Any, state: Sequence[Any]) -> list[Any]:
        i, n = state[0], 1 + self.num_carry
        at = i
        if self.reverse:
            at = b.op("stablehlo.subtract", [b.constant(self.length - 1, INDEX), i], INDEX)
        steps = self.program.in_avals[len(self.consts) + self.num_carry :]
        slices = [self._slice(b, x, at, step) for x, step in zip(self.xs, steps)]
        outs = b.inline(self.program, [*self.consts, *state[1:n], *slices])
        made = zip(state[n:], outs[self.num_carry :], self.y_types)
        ys = [self._store(b, y, v, at, full) for y, v, full in made]
        following = b.op("stablehlo.add", [i, b.constant(1, INDEX)], INDEX)
        return [following, *outs[: self.num_carry], *ys]

    def _slice(self, b: Any, x: Any, at: Any, step: Any) -> Any:
        row = step.with_dimension(0, 1)
        sizes = f"slice_sizes = array<i64: {', '.join(map(str, row.shape))}>"

        def emit(b: Any, x: Any, at: Any) -> list[Any]:
            starts = [at, *[b.constant(0, INDEX)] * len(step.shape)]
            one = b.op("stablehlo.dynamic_slice", [x, *starts], row, sizes)
            return [b.op("stablehlo.reshape", [one], step)]

        full = step.with_dimension(0, self.length)
        return b.divided([full, INDEX], [x, at], [step], emit)[0]

    def _store(self, b: Any, y: Any, value: Any, at: Any, full: Any) -> Any:
        step = full.without_dimension(0)
        row = step.with_dimension(0, 1)

        def emit(b: Any, y: Any, value: Any, at: Any) -> list[Any]:
            one = b.op("stablehlo.reshape", [value], row)
            starts = [at, *[b.constant(0, INDEX)] * len(step.shape)]
            return [b.op("stablehlo.dynamic_update_slice", [y, one, *starts], full)]

        return b.divided([full, step, INDEX], [y, value, at], [full], emit)[0]
