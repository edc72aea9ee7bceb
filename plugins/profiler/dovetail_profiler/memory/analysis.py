"""A program's memory: the owners of its peak, and the compiler's sizes, as records and as text."""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dovetail_base.source import Source
from dovetail_cli.render import count, table
from dovetail_core import dce_closed
from dovetail_cost import nbytes
from dovetail_jit import Traced

from ..formatting import shown_bytes, source_text
from .liveness import ARGUMENT, CONSTANT, RESULT, TEMPORARY, Buffer, Liveness, liveness

SHARED = "shared by arguments and results"
SHOWN = 12
"""The number of owners that are shown one by one."""


@dataclass(frozen=True)
class Owner:
    """A line of the user's, or an argument, with its buffers at the peak.

    Attributes:
        location: ``FILE:LINE (FUNCTION)``, or the argument's name.
        code: the text of the line, if it can be read.
    """

    location: str
    code: str
    buffers: Sequence[Buffer]

    @property
    def nbytes(self) -> int:
        """The bytes of all buffers."""
        return sum(b.nbytes for b in self.buffers)

    @property
    def what(self) -> str:
        """``2 x f32[8,8] from tanh; f32[8] from add``."""
        counts: dict[str, int] = {}
        for b in self.buffers:
            origin = f" from {b.name}" if b.kind not in (ARGUMENT, CONSTANT) else ""
            text = f"{b.aval.str_short()}{origin}"
            counts[text] = counts.get(text, 0) + 1
        shown = [f"{n} x {text}" if n > 1 else text for text, n in counts.items()]
        more = [f"and {len(shown) - 3} more"] if len(shown) > 3 else []
        return "; ".join([*shown[:3], *more])


@dataclass(frozen=True)
class Memory:
    """The memory of one program.

    Attributes:
        name: the function's name. types: the types of its arguments.
        live: the schedule, by which all sizes are estimated.
        platform: the platform that it was compiled for. compiled: the compiler's own sizes, by
            name; None if it has none.
    """

    name: str
    types: str
    live: Liveness
    platform: str
    compiled: dict[str, int] | None

    @property
    def peak(self) -> int:
        """The largest number of bytes at any step."""
        return max(self.live.timeline)

    @property
    def estimated(self) -> dict[str, int]:
        """Bytes at the peak by kind."""
        result = dict.fromkeys([ARGUMENT, CONSTANT, RESULT, TEMPORARY], 0)
        for b in self.live.alive(self.live.peak_at):
            result[b.kind] += b.nbytes
        return result

    @property
    def owners(self) -> list[Owner]:
        """The owners of memory at the peak, the largest first."""
        groups: dict[str, list[Buffer]] = {}
        for b in self.live.alive(self.live.peak_at):
            groups.setdefault(owner_of(b), []).append(b)
        result = [Owner(location, _code(bs[0].source), bs) for location, bs in groups.items()]
        return sorted(result, key=lambda o: (-o.nbytes, o.location))


def owner_of(buffer: Buffer) -> str:
    """The owner of a buffer: a line, an argument, or the program's constants."""
    if buffer.kind == ARGUMENT:
        return f"argument {_parameter(buffer.name)}"
    if buffer.kind == CONSTANT:
        return "constants"
    return source_text(buffer.source) if buffer.source is not None else "results"


def _parameter(leaf: str) -> str:
    """The parameter that a leaf ``state['speed']`` belongs to."""
    result = re.match(r"\w+(?=[\[.])|.*", leaf)
    return result[0] if result else leaf


def _code(source: Source | None) -> str:
    if source is None:
        return ""
    return linecache.getline(source.filename, source.line).strip()


_COMPILED = {
    ARGUMENT: "argument_size_in_bytes",
    RESULT: "output_size_in_bytes",
    TEMPORARY: "temp_size_in_bytes",
    SHARED: "alias_size_in_bytes",
}
"""The compiler's sizes and their names. Its own peak does not include temporaries on some
platforms."""


def memory_of(traced: Traced, name: str) -> Memory:
    """The memory of a traced function, which is compiled for the device that it would run on.

    Args:
        name: the function's name in the report.
    """
    program, names = traced.jaxpr, traced.arg_names
    program, _ = dce_closed(program, [True] * len(program.out_avals), True)
    donated = [i in traced.donate_argnums for i in range(len(names))]
    lowered = traced.lower()
    stats = lowered.compile().memory_analysis()
    compiled = {k: int(getattr(stats, v)) for k, v in _COMPILED.items()} if stats else None
    groups: dict[str, list[Any]] = {}
    for leaf, aval in zip(names, program.in_avals):
        groups.setdefault(_parameter(leaf), []).append(aval)
    types = ", ".join(f"{parameter}: {_types(avals)}" for parameter, avals in groups.items())
    return Memory(name, types, liveness(program, names, donated), lowered.platform, compiled)


def _types(avals: Sequence[Any]) -> str:
    if len(avals) == 1:
        return avals[0].str_short()
    return f"{len(avals)} arrays of {shown_bytes(sum(map(nbytes, avals)))}"


def text_of(memory: Memory) -> str:
    """The memory of a program for a terminal."""
    return "\n\n".join([_header(memory), _owners(memory), _sizes(memory)])


def _header(memory: Memory) -> str:
    live, at = memory.live, memory.live.peak_at
    step = live.steps[at]
    inside = f" in {', '.join(step.loops)}" if step.loops else ""
    location = f"{step.operation}{inside} at {source_text(step.source)}"
    location = f"step {at + 1} of {len(live.steps)}: {location}"
    return (
        f"live memory of {memory.name}({memory.types})\n"
        f"  peak {shown_bytes(memory.peak)} at {location if step.operation else 'rest'}\n"
        f"  {sparkline(live.timeline)}"
    )


def sparkline(values: Sequence[int], width: int = 80) -> str:
    """Values as a line of bars, the highest of each group."""
    bars, top = "▁▂▃▄▅▆▇█", max(max(values), 1)
    n = min(width, len(values))
    edges = [len(values) * i // n for i in range(n + 1)]
    return "".join(bars[round(7 * max(values[a:b]) / top)] for a, b in pairwise(edges))


def _owners(memory: Memory) -> str:
    owners = memory.owners
    lines = [
        [shown_bytes(o.nbytes), f"{o.nbytes / (memory.peak or 1):.0%}", o.location, o.what, o.code]
        for o in owners[:SHOWN]
    ]
    rest = owners[SHOWN:]
    if rest:
        size = shown_bytes(sum(o.nbytes for o in rest))
        lines.append([size, "", f"and {count(len(rest), 'other')}", "", ""])
    return table(["at the peak", "", "owner", "what", "line"], lines)


def _sizes(memory: Memory) -> str:
    return table(sizes_header(memory), sizes(memory))


def sizes_header(memory: Memory) -> list[str]:
    """The headers of the columns of :func:`sizes`."""
    return ["memory", "program, at its peak", f"as compiled ({memory.platform})"]


def sizes(memory: Memory) -> list[list[str]]:
    """Kinds of memory, with the program's size of each and the compiler's."""
    estimated: dict[str, int] = {**memory.estimated, "together": memory.peak}
    compiled = dict(memory.compiled or {})
    if compiled:
        compiled["together"] = sum(compiled.values()) - 2 * compiled[SHARED]
    kinds = (ARGUMENT, CONSTANT, RESULT, TEMPORARY, SHARED, "together")
    return [
        [kind, *[shown_bytes(x[kind]) if kind in x else "" for x in (estimated, compiled)]]
        for kind in kinds
        if estimated.get(kind) or compiled.get(kind)
    ]
