"""A whole program as a StableHLO module with its entry point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_core import ClosedJaxpr, Literal, dce_jaxpr

from .builder import Builder, ModuleText
from .text import tensor_type


@dataclass(frozen=True)
class LoweredModule:
    """A module and what its caller must know.

    Attributes:
        text: StableHLO in MLIR's text form; its function ``main`` takes the program's constants
            (``const_args``) and then the inputs marked in ``kept``.
        donated: per kept input, whether its buffer may be reused.
    """

    text: str
    name: str
    platform: str
    const_args: tuple[Any, ...]
    kept: tuple[bool, ...]
    out_avals: tuple[Any, ...]
    donated: tuple[bool, ...]
    unusable: tuple[Any, ...]


def lower_module(
    program: ClosedJaxpr,
    platform: str,
    name: str,
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
) -> LoweredModule:
    """Lower ``program`` for a platform; inputs that nothing uses are dropped unless kept."""
    jaxpr = program.jaxpr
    kept = [True] * len(jaxpr.invars)
    if not keep_unused:
        jaxpr, kept = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    donated = list(donated) or [False] * len(kept)
    alias, unusable = _aliases(program, kept, donated)
    module = ModuleText(platform)
    b = Builder(module)
    constants = b.arguments([v.aval for v in jaxpr.constvars])
    args = b.arguments([v.aval for v in jaxpr.invars])
    outs = b.emit(jaxpr, constants, args)
    b.terminate("func.return", outs)
    flags = [alias.get(i, "") for i, k in enumerate(kept) if k]
    head = [f"{a.name}: {a.type}" for a in constants]
    head += [f"{a.name}: {a.type}{flag}" for a, flag in zip(args, flags)]
    types = ", ".join(tensor_type(v.aval) for v in jaxpr.outvars)
    main = f"func.func public @main({', '.join(head)}) -> ({types}) {{\n{''.join(b.lines)}}}\n"
    stem = "".join(c if c.isalnum() else "_" for c in name)
    text = f"module @jit_{stem} {{\n{main}{''.join(module.functions)}}}\n"
    kept_donated = tuple(d for d, k in zip(donated, kept) if k)
    return LoweredModule(
        text, name, platform, tuple(program.consts), tuple(kept), tuple(program.out_avals),
        kept_donated, tuple(unusable),
    )  # fmt: skip


def _aliases(
    program: ClosedJaxpr, kept: Sequence[bool], donated: Sequence[bool]
) -> tuple[dict[int, str], list[Any]]:
    """Which donated input gives its buffer to which output: the first free one of equal type."""
    free = {
        i: (v.aval.shape, v.aval.dtype)  # type: ignore[attr-defined]
        for i, v in enumerate(program.jaxpr.outvars)
        if not isinstance(v, Literal)
    }
    flags: dict[int, str] = {}
    unusable: list[Any] = []
    for i, (v, d) in enumerate(zip(program.jaxpr.invars, donated)):
        if not d or not kept[i]:
            continue
        aval: Any = v.aval
        match = next((o for o, t in free.items() if t == (aval.shape, aval.dtype)), None)
        if match is None:
            unusable.append(aval)
        else:
            del free[match]
            flags[i] = f" {{tf.aliasing_output = {match} : i32}}"
    return flags, unusable
