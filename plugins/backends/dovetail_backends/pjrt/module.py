"""A whole program as a StableHLO module with its entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

from dovetail_base.annotations import are_used
from dovetail_core import ClosedJaxpr, Effect, InputEffect, Literal, ShapedArray, dce_jaxpr
from dovetail_core.interpret.mutable import without_mutable

from .attributes import Attribute, boolean, i32, spelled, string
from .builder import Builder
from .constants import is_in_module
from .emitter import ModuleText, Val
from .facts import ModuleFacts
from .locating import LocatingBuilder
from .marking import MarkingBuilder
from .partition import Partition, Parts
from .recorded import ModuleRecord, facts_of_text
from .text import identifier, tensor_type


class InPlace(NamedTuple):
    """Marks a donated input whose memory the result number ``output`` has, used or not."""

    output: int


class Layouts(NamedTuple):
    """How arrays that a program takes and returns lie in memory, as XLA writes it.

    Attributes:
        ins: of each input: ``"{0,1}"`` for the first axis fastest; ``"auto"`` where XLA chooses;
            None for the usual layout.
        outs: the same of each result.
    """

    ins: tuple[str | None, ...]
    outs: tuple[str | None, ...]


@dataclass(frozen=True)
class LoweredModule:
    """A module and what its caller must know.

    Attributes:
        text: StableHLO in MLIR's text form; its function ``main`` takes the program's constants
            (``const_args``) and then the inputs marked in ``kept``.
        donated: per kept input, whether a result takes its buffer.
        host_callbacks: the Python functions that it calls, by number.
        effects: what it does to the world beside computing results.
        partition: where it runs if that is on several devices.
        layouts: what was asked for, if anything.
        in_avals: types of what ``main`` takes; empty where the module was read from a file.
        record: what was emitted of it, until it is compiled; None where it was not written here.
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
    partition: Partition | None = None
    layouts: Layouts | None = None
    in_avals: tuple[Any, ...] = ()
    record: ModuleRecord | None = field(default=None, compare=False, repr=False)

    def facts(self) -> ModuleFacts | None:
        """Facts of the module, by which compile options are chosen; None where it is not valid."""
        if self.record is not None and self.record.text is self.text:
            return self.record.facts()
        return facts_of_text(self.text)

    def without_record(self) -> LoweredModule:
        """The module without what only compiling it asks for."""
        return self if self.record is None else replace(self, record=None)


def lower_module(
    program: ClosedJaxpr,
    platform: str,
    name: str,
    donated: Sequence[bool | InPlace] = (),
    keep_unused: bool = False,
    annotated: bool = False,
    partition: Partition | None = None,
    parts: Parts | None = None,
    layouts: Layouts | None = None,
    located: bool = False,
) -> LoweredModule:
    """Lower ``program`` for a platform; inputs that nothing uses are dropped unless kept.

    Args:
        donated: per input, whether a result may have its memory; ``InPlace`` says which one has,
            unless a Python function runs in the program: if that fails the input must be whole.
        partition: where it is to run if that is on several devices.
        parts: who the devices are, if each runs it by itself on its parts of values.
        layouts: how its inputs and results lie in memory, if not as usual.
        located: whether its operations say where they come from, in a text that is shown.
    """
    program = without_mutable(program)
    jaxpr = program.jaxpr
    donated = list(donated) or [False] * len(jaxpr.invars)
    kept = [True] * len(jaxpr.invars)
    if not keep_unused:
        in_place = [isinstance(d, InPlace) for d in donated]
        jaxpr, kept = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), in_place)
    module = ModuleText(platform, annotated, located or are_used(), partition)
    module.parts, module.located = parts, f"jit({name})"
    b = (LocatingBuilder if located else MarkingBuilder if module.marks else Builder)(module)
    passed = [(c, v) for c, v in zip(program.consts, jaxpr.constvars) if not is_in_module(c)]
    const_args = b.arguments([v.aval for _, v in passed])
    constants = _constants(b, program, const_args)
    args = b.arguments([v.aval for v in jaxpr.invars])
    outs = b.emit(jaxpr, constants, args)
    _return(b, outs, partition)
    if module.callbacks:
        donated = [d is True for d in donated]
    alias, unusable = _aliases(program, kept, donated, partition, layouts)
    head = [f"{a.name}: {a.type}" for a in const_args]
    numbers = [i for i, k in enumerate(kept) if k]
    head += [
        f"{a.name}: {a.type}{_marks(alias, partition, layouts, i, a)}"
        for i, a in zip(numbers, args)
    ]
    results = [_result(partition, layouts, o, v.aval) for o, v in enumerate(jaxpr.outvars)]
    types, n = ", ".join(results), len(partition.devices) if partition else 1
    main = f"func.func public @main({', '.join(head)}) -> ({types}) {{\n{''.join(b.lines)}}}\n"
    many = f" attributes {{mhlo.num_partitions = {n} : i32}}" if n > 1 else ""
    text = f"module @{identifier(f'jit_{name}')}{many} {{\n{main}{''.join(module.functions)}}}\n"
    given_away = tuple(i in alias for i, k in enumerate(kept) if k)
    taken = tuple(x.aval for x in (*const_args, *args))
    return LoweredModule(
        text, name, platform, tuple([c for c, _ in passed]), tuple(kept), tuple(program.out_avals),
        given_away, tuple(unusable), tuple(module.callbacks),
        frozenset(e for e in jaxpr.effects if not isinstance(e, InputEffect)), partition, layouts,
        taken, _record(text, module, numbers, args, jaxpr.outvars),
    )  # fmt: skip


def _record(
    text: str, module: ModuleText, kept: Sequence[int], args: Sequence[Any], outs: Sequence[Any]
) -> ModuleRecord | None:
    """What was emitted of a module; None where MLIR's bindings wrote a part of it."""
    if module.spliced:
        return None
    shardings = list[tuple[Any, int]]()
    if module.partition is not None:
        places = [*[module.partition.ins[i] for i in kept], *module.partition.outs]
        shardings = [(s, len(x.aval.shape)) for s, x in zip(places, (*args, *outs))]
    return ModuleRecord(text, module, [v.aval for v in outs], shardings)


def _return(b: Builder, outs: Sequence[Val], partition: Partition | None) -> None:
    for group in partition.alike if partition is not None else ():
        b.divided_alike([outs[i] for i in group])
    b.terminate("func.return", outs)


def _constants(b: Builder, program: ClosedJaxpr, arguments: Sequence[Val]) -> list[Val]:
    """Values of a program's constants: those in its module, and arguments for the others."""
    rest = iter(arguments)
    pairs: list[tuple[Any, Any]] = list(zip(program.consts, program.jaxpr.constvars))
    return [b.constant(c, v.aval) if is_in_module(c) else next(rest) for c, v in pairs]


def _marks(
    alias: Mapping[int, int], partition: Partition | None, layouts: Layouts | None, i: int, x: Val
) -> str:
    """The attributes of an argument of ``main``."""
    marks: dict[str, Attribute] = {}
    if i in alias and partition is None and alias[i] != DONOR:
        marks["tf.aliasing_output"] = i32(alias[i])
    elif i in alias:  # which result can have its memory depends on where that is
        marks["jax.buffer_donor"] = boolean(True)
    text = partition and partition.attribute(partition.ins[i], len(x.aval.shape))
    if text is not None:
        marks["sdy.sharding"] = text
    if layouts is not None and (mode := layouts.ins[i]) is not None:
        marks["mhlo.layout_mode"] = string(mode)
    return f" {{{spelled(marks)}}}" if marks else ""


def _result(partition: Partition | None, layouts: Layouts | None, o: int, aval: Any) -> str:
    """The type of a result of ``main``, with its attributes."""
    marks: dict[str, Attribute] = {}
    text = partition and partition.attribute(partition.outs[o], len(aval.shape))
    if text is not None:
        marks["sdy.sharding"] = text
    if layouts is not None and (mode := layouts.outs[o]) is not None:
        marks["mhlo.layout_mode"] = string(mode)
    return f"{tensor_type(aval)} {{{spelled(marks)}}}" if marks else tensor_type(aval)


DONOR = -1
"""In place of the number of an output: XLA chooses which of them a buffer is for, if any."""


class _Form(NamedTuple):
    """What an output must have in common with an input, to be written in its buffer.

    Attributes:
        type: the shape and dtype of one device's part, and the layout; None where that is unknown.
        size: how many elements that part has.
    """

    type: Any
    size: int | None


def _form(aval: Any, place: Any, partition: Partition | None, layout: str | None) -> _Form:
    shape = aval.shape
    if partition is not None:
        if place is None:
            return _Form(None, None)
        shape = place.shard_shape(shape)
    return _Form((shape, aval.dtype, layout), prod(shape))


def _aliases(
    program: ClosedJaxpr,
    kept: Sequence[bool],
    donated: Sequence[bool | InPlace],
    partition: Partition | None,
    layouts: Layouts | None,
) -> tuple[dict[int, int], list[Any]]:
    """Which donated input gives its buffer to which output, and the types of those that cannot.

    It is the first free output of equal type, or else one of as many elements, or one of which it
    is not known how it is divided; then XLA chooses.
    """
    ins = layouts.ins if layouts else (None,) * len(kept)
    outs = layouts.outs if layouts else (None,) * len(program.out_avals)
    at = (partition.ins, partition.outs) if partition else ((None,) * len(ins), (None,) * len(outs))
    free = {
        o: _form(v.aval, at[1][o], partition, outs[o])
        for o, v in enumerate(program.jaxpr.outvars)
        if not isinstance(v, Literal)
    }
    flags: dict[int, int] = {}
    for i, d in enumerate(donated):
        if isinstance(d, InPlace):
            free.pop(d.output, None)
            flags[i] = d.output
    wanted = {
        i: _form(v.aval, at[0][i], partition, ins[i])
        for i, (v, d) in enumerate(zip(program.jaxpr.invars, donated))
        if d is True and kept[i]
    }
    unusable: list[Any] = []
    for fits in (_of_one_type, _as_large, _unknown):
        for i, form in wanted.items():
            result = next((o for o, f in free.items() if i not in flags and fits(form, f)), None)
            if result is not None:
                del free[result]
                flags[i] = result if fits is _of_one_type else DONOR
    for i, form in wanted.items():
        if i not in flags:
            aval: Any = program.jaxpr.invars[i].aval
            unusable.append(aval if form.type is None else ShapedArray(form.type[0], aval.dtype))
    return flags, unusable


def _of_one_type(x: _Form, y: _Form) -> bool:
    return x.type is not None and x.type == y.type


def _as_large(x: _Form, y: _Form) -> bool:
    return x.size is not None and x.size == y.size


def _unknown(x: _Form, y: _Form) -> bool:
    return x.size is None or y.size is None
