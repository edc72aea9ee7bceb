"""Steps of both passes over a loop: their programs, made from its body, and how they are run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_ad import LinearTrace, backward_pass, split_program
from dovetail_core import (
    ClosedJaxpr,
    add_tangents,
    dce_closed,
    dead_code,
    eval_jaxpr,
    generation,
    get_trace,
    mutable_values,
    run_under,
    stage_closed,
    zeros_like_aval,
)

from . import integers as i
from .description import Loop, regions_of


def run(program: ClosedJaxpr, *args: Any) -> list[Any]:
    """Evaluate a program under the current trace."""
    return eval_jaxpr(program.jaxpr, program.consts, *args)


def pick(values: Sequence[Any], flags: Sequence[bool], wanted: bool = True) -> list[Any]:
    """The values whose flag is ``wanted``."""
    return [x for x, f in zip(values, flags, strict=True) if f == wanted]


def slice_index(loop: Loop, step: Any) -> Any:
    """The index of the slice that the loop reads and writes at its ``step``-th step."""
    if not loop.reverse:
        return step
    assert loop.length is not None
    return i.subtract(loop.length - 1, step)


def slices(loop: Loop, xs: Sequence[Any], step: Any) -> list[Any]:
    """The slices of one step."""
    if not xs:
        return []
    at = slice_index(loop, step)
    return [i.read(x, at) for x in xs]


def advance(
    loop: Loop, consts: Sequence[Any], xs: Sequence[Any], state: Any, begin: Any, count: Any
) -> Any:
    """Run ``count`` steps from step ``begin``; ``state`` is a pair of carry and ``ys``."""
    end = i.add(begin, count)

    def step(now: Any) -> Any:
        at, carry, ys = now
        return i.add(at, 1), *one_step(loop, consts, xs, at, carry, ys)

    _, carry, ys = lax.while_loop(lambda now: i.less(now[0], end), step, (begin, *state))
    return carry, ys


def one_step(
    loop: Loop, consts: Sequence[Any], xs: Sequence[Any], at: Any, carry: Any, ys: Any
) -> tuple[list[Any], list[Any]]:
    """Run the step ``at``; returns the next carry, and ``ys`` with its slice."""
    outs = run(loop.body, *consts, *carry, *slices(loop, xs, at))
    new = outs[loop.num_carry :]
    if new:
        ys = store(ys, slice_index(loop, at), new)
    return outs[: loop.num_carry], ys


def store(buffers: Sequence[Any], index: Any, values: Sequence[Any]) -> list[Any]:
    """The buffers with a state at ``index``."""
    return [i.write(b, index, x) for b, x in zip(buffers, values, strict=True)]


def load(buffers: Sequence[Any], index: Any) -> list[Any]:
    """The state at ``index`` of the buffers."""
    return [i.read(b, index) for b in buffers]


def control_of(table: Any, indices: Any, top: Any, end: Any) -> Any:
    """The control integers for a reverse pass."""
    rows = lax.concatenate([table, lax.expand_dims(indices, (1,))], 1)
    last = i.row([top, end, 0, 0])
    return lax.concatenate([rows, lax.expand_dims(last, (0,))], 0)


Flags = tuple[bool, ...]


def restricted(program: ClosedJaxpr, unknown: Flags, wanted: Sequence[bool]) -> ClosedJaxpr:
    """The program of the ``wanted`` results, which depend on none of the ``unknown`` inputs."""
    reduced, left = dce_closed(program, wanted, [not u for u in unknown])
    if not any(live and u for live, u in zip(left, unknown)):
        return reduced
    # An operation has wanted results and results that depend on unknowns.
    split = split_program(program, unknown)
    outs = [w for w, u in zip(wanted, split.out_unknown) if not u]
    residuals = len(split.known.out_avals) - len(outs)
    return dce_closed(split.known, [*outs, *[False] * residuals], True)[0]


def known_loop(loop: Loop, unknown: Sequence[bool], wanted: Sequence[bool]) -> Loop:
    """The loop of the known carries and of the known ``ys`` marked in ``wanted``."""
    unknown = tuple(unknown)
    consts, carry, xs = loop.parts(unknown)
    body = restricted(loop.body, unknown, [*(not u for u in carry), *wanted])
    condition = loop.condition
    if condition is not None:
        condition = restricted(condition, unknown[: len(unknown) - len(xs)], [True])
    return loop.with_body(body, consts.count(False), carry.count(False), condition=condition)


def backward_step(loop: Loop, unknown: Flags, given: Flags) -> ClosedJaxpr:
    """One step of the transposed loop.

    It takes the known inputs of the body, the accumulated cotangents of the unknown constants, the
    cotangents of the unknown carries and those of the ``given`` ``ys``; returns the new ones of
    constants and carries, and those of the unknown slices. Cached with the body.
    """
    key = ("checkpointed step", loop.num_consts, loop.num_carry, unknown, given, generation.value)
    return loop.body.memo(key, lambda: _backward_step(loop, unknown, given))


def _backward_step(loop: Loop, unknown: Flags, given: Flags) -> ClosedJaxpr:
    avals = loop.body.in_avals
    known = pick(avals, unknown, False)
    live = loop.parts(unknown)[1]
    consts, carry, _ = (
        [a.cotangent_type() for a in pick(part, flags)]
        for part, flags in zip(loop.parts(avals), loop.parts(unknown))
    )
    y_avals: list[Any] = loop.body.out_avals[loop.num_carry :]
    y_cts = [a.cotangent_type() for a, g in zip(y_avals, given) if g]
    at = len(known), len(known) + len(consts), len(known) + len(consts) + len(carry)

    def step(*args: Any) -> list[Any]:
        sums, carry_cts, ys = args[at[0] : at[1]], iter(args[at[1] : at[2]]), iter(args[at[2] :])
        cts = [next(carry_cts) if u else None for u in live]
        cts += [next(ys) if g else None for g in given]
        result = _cotangents(loop.body, unknown, args[: at[0]], cts)
        n = len(sums)
        total = [s if ct is None else add_tangents(s, ct) for s, ct in zip(sums, result)]
        rest = pick(avals, unknown)[n:]
        return total + [
            zeros_like_aval(a.cotangent_type()) if ct is None else ct
            for a, ct in zip(rest, result[n:])
        ]

    types = [*known, *consts, *carry, *y_cts]
    program = mutable_values.discharge_local(stage_closed(step, types, loop.body.jaxpr.name))
    return dce_closed(program, [True] * len(program.out_avals), True)[0]


def _cotangents(
    program: ClosedJaxpr, unknown: Flags, known: Sequence[Any], cts: Sequence[Any]
) -> list[Any]:
    """Cotangents of a program's unknown inputs (None for zeros), given those of its results."""
    trace = LinearTrace(get_trace())
    values = iter(known)
    ins = [trace.unknown(a) if u else next(values) for a, u in zip(program.in_avals, unknown)]
    outs = run_under(trace, run, program, *ins)
    return backward_pass(trace, [x for x, u in zip(ins, unknown) if u], outs, cts)


def reduced_loop(
    loop: Loop, used: Sequence[bool], keep: Sequence[bool]
) -> tuple[Loop, list[bool], list[bool]]:
    """The loop without operations that the ``used`` results do not need.

    Args:
        keep: True for operands that stay in any case.

    Returns: the loop, flags of the operands that are left, and flags of the results that are left
    (a carry that another one needs is left).
    """
    interface = regions_of(loop.params)
    needed, left = dead_code.needed_operands(interface, used, keep)
    programs = dead_code.reduced_programs(interface, needed, left)
    return Loop.of(dead_code.reduced_params(interface, needed, programs)), needed, left
