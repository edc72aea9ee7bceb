"""Loops that use references: what these hold is carried, so that it is kept and restored, too.

A reference that the body writes becomes a carry and one that it only reads a constant. Each is
read once, before the loop, and written once, after it, however often steps are run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, current_source, describe_source
from dovetail_core.interpret.mutable import discharge_provider
from dovetail_core.types.effects import InputEffect

from .description import Loop
from .machine import pick


def bind_with_contents(what: str, bind: Any, loop: Loop, operands: Sequence[Any]) -> list[Any]:
    """Bind a loop some of whose constants are references; ``bind(loop, operands)`` takes it on."""
    consts, carry, xs = loop.parts(operands)
    is_ref = [a.is_mutable for a in loop.parts(loop.body.in_avals)[0]]
    refs = pick(consts, is_ref)
    for aval in pick(loop.body.in_avals[: loop.num_consts], is_ref):
        if len(aval.content_types()) != 1:
            raise TypeError(
                f"{what}{describe_source(current_source())}: the body closes over "
                f"{aval.str_short()}, which a checkpointed loop cannot carry: only references to "
                "arrays. Carry what it holds, and set it after the loop."
            )
    _refuse_untouched(what, loop, is_ref)
    inner, written = _discharged(loop, is_ref)
    contents = [ref[...] for ref in refs]
    given = [*pick(consts, is_ref, False), *pick(contents, written, False)]
    outs = bind(inner, [*given, *carry, *pick(contents, written), *xs])
    n = loop.num_carry
    m = n + sum(written)
    for ref, final in zip(pick(refs, written), outs[n:m]):
        ref[...] = final
    return [*outs[:n], *outs[m:]]


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


def _discharged(loop: Loop, is_ref: Sequence[bool]) -> tuple[Loop, list[bool]]:
    """The loop on contents, and which references it writes."""
    nc, nk = loop.num_consts, loop.num_carry
    rest = [False] * (len(loop.body.in_avals) - nc)
    found = discharge_provider().program(loop.body, (*is_ref, *rest))
    places = [k for k, ref in enumerate(is_ref) if ref]
    written = [k in found.written for k in places]
    refs = [k for k, w in zip(places, written) if w]
    order = [k for k in range(nc) if k not in refs]
    order.sort(key=lambda k: is_ref[k])
    ins = [*order, *range(nc, nc + nk), *refs, *range(nc + nk, nc + len(rest))]
    outs = range(len(loop.body.out_avals))
    finals = range(len(outs), len(outs) + len(refs))
    body = _permuted(found.program, ins, [*outs[:nk], *finals, *outs[nk:]])
    condition = loop.condition
    if condition is not None:
        test = discharge_provider().program(condition, (*is_ref, *[False] * nk)).program
        condition = _permuted(test, [k for k in ins if k < nc + nk], [0])
    changed = loop.with_body(body, len(order), nk + len(refs), condition=condition)
    return changed, written


def _permuted(program: ClosedJaxpr, ins: Sequence[int], outs: Sequence[int]) -> ClosedJaxpr:
    jaxpr = program.jaxpr
    invars, outvars = [jaxpr.invars[k] for k in ins], [jaxpr.outvars[k] for k in outs]
    return ClosedJaxpr(jaxpr.replace(invars=invars, outvars=outvars), program.consts)
