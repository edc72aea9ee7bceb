"""What both passes over a loop are made of: steps, kept states, the integers that guide them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import ClosedJaxpr, eval_jaxpr

from . import integers as i
from .description import Loop


def run(program: ClosedJaxpr, *args: Any) -> list[Any]:
    """Evaluate a program under the current trace."""
    return eval_jaxpr(program.jaxpr, program.consts, *args)


def pick(values: Sequence[Any], flags: Sequence[bool], wanted: bool = True) -> list[Any]:
    """The values whose flag is ``wanted``."""
    return [x for x, f in zip(values, flags, strict=True) if f == wanted]


def place_of(loop: Loop, step: Any) -> Any:
    """The slice that the loop reads and writes at its ``step``-th step."""
    if not loop.reverse:
        return step
    assert loop.length is not None
    return i.subtract(loop.length - 1, step)


def slices(loop: Loop, xs: Sequence[Any], step: Any) -> list[Any]:
    """The slices of one step."""
    if not xs:
        return []
    at = place_of(loop, step)
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
    """Run the step ``at``: the next carry, and ``ys`` with its slice."""
    outs = run(loop.body, *consts, *carry, *slices(loop, xs, at))
    new = outs[loop.num_carry :]
    if new:
        ys = store(ys, place_of(loop, at), new)
    return outs[: loop.num_carry], ys


def store(buffers: Sequence[Any], place: Any, values: Sequence[Any]) -> list[Any]:
    """The buffers with a state in one of their places."""
    return [i.write(b, place, x) for b, x in zip(buffers, values, strict=True)]


def load(buffers: Sequence[Any], place: Any) -> list[Any]:
    """The state in one of the buffers' places."""
    return [i.read(b, place) for b in buffers]


def control_of(table: Any, places: Any, top: Any, end: Any) -> Any:
    """The integers that a reverse pass starts from."""
    rows = lax.concatenate([table, lax.expand_dims(places, (1,))], 1)
    last = i.row([top, end, 0, 0])
    return lax.concatenate([rows, lax.expand_dims(last, (0,))], 0)
