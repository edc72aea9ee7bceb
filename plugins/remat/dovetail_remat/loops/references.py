"""Loops that use references: what these hold is carried, so that it is kept and restored, too.

A reference that the body writes becomes a carry and one that it only reads a constant; of one that
it gets in slices what it holds is sliced, and what is written to slices is stacked. Each is read
once, before the loop, and written once, after it, however often steps are run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, InputEffect, current_source, describe_source, mutable_values

from .description import Loop
from .machine import pick


def bind_with_contents(what: str, bind: Any, loop: Loop, operands: Sequence[Any]) -> list[Any]:
    """Bind a loop with references among its operands; ``bind(loop, operands)`` takes it on."""
    is_ref = [a.is_mutable for a in loop.body.in_avals]
    for aval in pick(loop.body.in_avals, is_ref):
        if len(aval.content_types()) != 1:
            raise TypeError(
                f"{what}{describe_source(current_source())}: the body closes over "
                f"{aval.str_short()}, which a checkpointed loop cannot carry: only references to "
                "arrays. Carry what it holds, and set it after the loop."
            )
    _refuse_untouched(what, loop, is_ref)
    inner, order, written = _discharged(loop, is_ref)
    contents = [x[...] if ref else x for x, ref in zip(operands, is_ref)]
    outs = bind(inner, [contents[k] for k in order])
    first, last = loop.num_carry, len(outs) - sum(k >= loop.num_consts for k in written)
    after = first + sum(k < loop.num_consts for k in written)
    for k, final in zip(written, [*outs[first:after], *outs[last:]]):
        operands[k][...] = final
    return [*outs[:first], *outs[after:last]]


def _refuse_untouched(what: str, loop: Loop, is_ref: Sequence[bool]) -> None:
    """Refuse a reference that only a derivative's rule can use: steps are reversed on contents."""
    programs = [loop.body, *([] if loop.condition is None else [loop.condition])]
    effects = [e for p in programs for e in p.effects if isinstance(e, InputEffect)]
    touched = {e.input_index for e in effects}
    for k, ref in enumerate(is_ref):
        if ref and k not in touched:
            raise TypeError(
                f"{what}{describe_source(current_source())}: the body gives "
                f"{loop.body.in_avals[k].str_short()} to a function whose derivative rule may use "
                "it, but does not read or write it itself. The reverse pass of a checkpointed loop "
                "cannot write to references: return what the rule wants to keep, or leave "
                "checkpoint= away."
            )


def _discharged(loop: Loop, is_ref: Sequence[bool]) -> tuple[Loop, list[int], Sequence[int]]:
    """The loop on contents, its operands as numbers of the old ones, and which of these it writes:
    those that are constants become carried, of those that are sliced it returns slices."""
    nc, nk = loop.num_consts, loop.num_carry
    result = mutable_values.discharge_provider().program(loop.body, tuple(is_ref), keeps_rules=True)
    moving = [k for k in result.written if k < nc]
    consts = [k for k in range(nc) if k not in moving]
    order = [*consts, *range(nc, nc + nk), *moving, *range(nc + nk, len(is_ref))]
    n = len(loop.body.out_avals)
    finals = range(n, n + len(result.written))
    m = len(moving)
    body = _permuted(result.program, order, [*range(nk), *finals[:m], *range(nk, n), *finals[m:]])
    condition = loop.condition
    if condition is not None:
        test = (
            mutable_values.discharge_provider()
            .program(condition, (*is_ref[:nc], *[False] * nk))
            .program
        )
        condition = _permuted(test, [k for k in order if k < nc + nk], [0])
    return loop.with_body(body, len(consts), nk + m, condition=condition), order, result.written


def _permuted(program: ClosedJaxpr, ins: Sequence[int], outs: Sequence[int]) -> ClosedJaxpr:
    jaxpr = program.jaxpr
    invars, outvars = [jaxpr.invars[k] for k in ins], [jaxpr.outvars[k] for k in outs]
    return ClosedJaxpr(jaxpr.replace(invars=invars, outvars=outvars), program.consts)
