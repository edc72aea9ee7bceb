"""A whole program as a StableHLO module with its entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dovetail_core import ClosedJaxpr, Effect, InputEffect, Literal, dce_jaxpr
from dovetail_core.base.annotations import are_used
from dovetail_core.interpret.mutable import without_mutable

from .builder import Builder
from .emitter import ModuleText
from .marking import MarkingBuilder
from .text import identifier, tensor_type


class InPlace(NamedTuple):
    """Marks a donated input whose memory the result number ``output`` has, used or not."""

    output: int


@dataclass(frozen=True)
class LoweredModule:
    """A module and what its caller must know.

    Attributes:
        text: StableHLO in MLIR's text form; its function ``main`` takes the program's constants
            (``const_args``) and then the inputs marked in ``kept``.
        donated: per kept input, whether a result takes its buffer.
        host_callbacks: the Python functions that it calls, by number.
        effects: what it does to the world beside computing results.
    """

    text: str
    name: str
    platform: str
    const_args: tuple[Any, ...]
    kept: tuple[bool, ...]
    out_avals: tuple[Any, ...]
    donated: tuple[bool, ...]
    unusable: tuple[Any, ...]
    host_callbacks: tuple[Callable[..., Any], ...] = ()
    effects: frozenset[Effect] = frozenset()


def lower_module(
    program: ClosedJaxpr,
    platform: str,
    name: str,
    donated: Sequence[bool | InPlace] = (),
    keep_unused: bool = False,
    annotated: bool = False,
) -> LoweredModule:
    """Lower ``program`` for a platform; inputs that nothing uses are dropped unless kept.

    Args:
        donated: per input, whether a result may have its memory; ``InPlace`` says which one has,
            unless a Python function runs in the program: if that fails the input must be whole.
    """
    program = without_mutable(program)
    jaxpr = program.jaxpr
    donated = list(donated) or [False] * len(jaxpr.invars)
    kept = [True] * len(jaxpr.invars)
    if not keep_unused:
        in_place = [isinstance(d, InPlace) for d in donated]
        jaxpr, kept = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), in_place)
    module = ModuleText(platform, annotated, are_used())
    b = (MarkingBuilder if module.marks else Builder)(module)
    constants = b.arguments([v.aval for v in jaxpr.constvars])
    args = b.arguments([v.aval for v in jaxpr.invars])
    outs = b.emit(jaxpr, constants, args)
    b.terminate("func.return", outs)
    if module.callbacks:
        donated = [d is True for d in donated]
    alias, unusable = _aliases(program, kept, donated)
    flags = [alias.get(i, "") for i, k in enumerate(kept) if k]
    head = [f"{a.name}: {a.type}" for a in constants]
    head += [f"{a.name}: {a.type}{flag}" for a, flag in zip(args, flags)]
    types = ", ".join(tensor_type(v.aval) for v in jaxpr.outvars)
    main = f"func.func public @main({', '.join(head)}) -> ({types}) {{\n{''.join(b.lines)}}}\n"
    text = f"module @{identifier(f'jit_{name}')} {{\n{main}{''.join(module.functions)}}}\n"
    given_away = tuple(i in alias for i, k in enumerate(kept) if k)
    return LoweredModule(
        text, name, platform, tuple(program.consts), tuple(kept), tuple(program.out_avals),
        given_away, tuple(unusable), tuple(module.callbacks),
        frozenset(e for e in jaxpr.effects if not isinstance(e, InputEffect)),
    )  # fmt: skip


def _aliases(
    program: ClosedJaxpr, kept: Sequence[bool], donated: Sequence[bool | InPlace]
) -> tuple[dict[int, str], list[Any]]:
    """Which donated input gives its buffer to which output: the first free one of equal type."""
    free = {
        i: (v.aval.shape, v.aval.dtype)  # type: ignore[attr-defined]
        for i, v in enumerate(program.jaxpr.outvars)
        if not isinstance(v, Literal)
    }
    flags: dict[int, str] = {}
    unusable: list[Any] = []
    for i, d in enumerate(donated):
        if isinstance(d, InPlace):
            free.pop(d.output, None)
            flags[i] = _gives(d.output)
    for i, (v, d) in enumerate(zip(program.jaxpr.invars, donated)):
        if d is not True or not kept[i]:
            continue
        aval: Any = v.aval
        match = next((o for o, t in free.items() if t == (aval.shape, aval.dtype)), None)
        if match is None:
            unusable.append(aval)
        else:
            del free[match]
            flags[i] = _gives(match)
    return flags, unusable


def _gives(output: int) -> str:
    return f" {{tf.aliasing_output = {output} : i32}}"
