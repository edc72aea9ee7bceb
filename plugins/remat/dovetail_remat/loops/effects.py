"""Input and output effects of checkpointed loops, which happen once per step, in the forward pass.

Steps that are run again, and those of derivatives, are run without them. So results of such
operations cannot be used: they would have to be kept for every step. Nor can such operations be
in a function with rules of its own, which is not entered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from dovetail_core import (
    ClosedJaxpr,
    Effect,
    InputEffect,
    IOEffect,
    dce_closed,
    effects,
    here,
)

from .description import Loop


def effects_of(loop: Loop) -> frozenset[Effect]:
    """The effects of a loop's programs, except those on references, which are carried."""
    programs = [loop.body, *([] if loop.condition is None else [loop.condition])]
    return frozenset(e for p in programs for e in p.effects if not isinstance(e, InputEffect))


def silent(loop: Loop) -> Loop:
    """The loop without its input and output effects."""
    if not effects_of(loop):
        return loop
    condition = None if loop.condition is None else _silent(loop.condition)
    return replace(loop, body=_silent(loop.body), condition=condition)


def _silent(program: ClosedJaxpr) -> ClosedJaxpr:
    return effects.ignoring_io(dce_closed, program, [True] * len(program.out_avals), True)[0]


def check_effects(what: str, loop: Loop) -> None:
    """Refuse effects that cannot happen once per step.

    Raises:
        ValueError: one is not an input or output effect, or a step uses its result.
    """
    if not effects_of(loop):
        return
    quiet = silent(loop)
    for program, rest in ((loop.body, quiet.body), (loop.condition, quiet.condition)):
        if program is None or rest is None:
            continue
        for effect in sorted(program.effects, key=repr):
            if isinstance(effect, InputEffect):
                continue
            if not isinstance(effect, IOEffect) or effect in rest.effects:
                _refuse(what, program, effect)


def check_known(loop: Loop, known: Loop) -> None:
    """Refuse effects of ``loop`` that its ``known`` part does not have.

    Raises:
        ValueError: one depends on a derivative, so that it would happen in the reverse pass.
    """
    for effect in sorted(effects_of(loop) - effects_of(known), key=repr):
        _refuse("linearizing a checkpointed loop", loop.body, effect)


def _refuse(what: str, program: ClosedJaxpr, effect: Effect) -> NoReturn:
    raise ValueError(
        f"{what}{here()}: {program.jaxpr.name or 'the body'} "
        f"has an effect that cannot be replayed, {effect!r}, and a checkpointed loop runs "
        "its steps more than once. Use nothing that the operation returns, take it out of "
        "functions with derivative rules and out of derivatives, or leave out checkpoint=."
    )
