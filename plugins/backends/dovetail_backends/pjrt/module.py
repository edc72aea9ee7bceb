"""A program as a StableHLO module: its entry point, constants, layouts and buffer donation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dovetail_base.source_info import are_used
from dovetail_core import (
    ClosedJaxpr,
    Effect,
    InputEffect,
    Literal,
    ShapedArray,
    dce_jaxpr,
    float0,
    mutable_values,
    typeof,
)
from dovetail_xla.arrays import ArrayImpl, to_numpy
from dovetail_xla.guards import explicit_get

from .annotations import AnnotatingBuilder, LocatingBuilder
from .attributes import Attribute, boolean, i32, spelled, string
from .builder import Builder
from .emitter import ModuleText, Val
from .facts import ModuleFacts, ModuleRecord, facts_of_text
from .partition import Partition, Parts
from .text import identifier, tensor_type

SMALL = 1024
"""Bytes. Constants up to this size are written into modules, where XLA can fold them; larger ones
are arguments, so that modules do not contain them and calls share their memory."""


def host_constant(value: Any) -> Any:
    """A NumPy value for a small array that is on the host or uncommitted; None for other values.

    Programs hold it instead of the array. Waits for the array, and does not keep it alive.
    """
    if isinstance(value, np.ndarray):
        return value if is_in_module(value) else None
    if value.__class__ is not ArrayImpl or value.nbytes > SMALL or value._committed:
        return None
    if value.is_deleted():
        return None
    result = np.array(explicit_get(to_numpy, value))
    if not value.weak_type:
        return result
    if result.ndim:
        return None
    scalar = result.item()  # the one kind of value on the host that is weakly typed
    return scalar if typeof(scalar) == typeof(value) else None


def is_in_module(value: Any) -> bool:
    """True if a program's constant is a part of its module, and not an argument."""
    if isinstance(value, np.ndarray):
        return value.nbytes <= SMALL and value.dtype != float0
    return isinstance(value, (bool, int, float, complex))


class InPlace(NamedTuple):
    """The donation of an input to the result number ``output``, even if the input is not used."""

    output: int


class Layouts(NamedTuple):
    """Layouts of a program's inputs and results in XLA's notation.

    Attributes:
        ins: of each input: ``"{0,1}"`` for the first axis fastest; ``"auto"`` if XLA chooses it;
            None for the default layout.
        outs: the same of each result.
    """

    ins: tuple[str | None, ...]
    outs: tuple[str | None, ...]


@dataclass(frozen=True)
class LoweredModule:
    """A module and the facts that its caller needs.

    Attributes:
        text: StableHLO in MLIR's text form; its function ``main`` takes the program's constants
            (``const_args``) and then the inputs with True in ``kept``.
        donated: for each kept input, True if a result takes its buffer.
        host_callbacks: the Python functions that it calls, by number.
        effects: its side effects.
        partition: its devices and shardings if it runs on several devices.
        layouts: the requested layouts, if any.
        in_avals: the types of arguments of ``main``; empty if the module was read from a file.
        record: the emitted operations, until it is compiled; None if it was not written here.
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
        """Facts of the module, by which compile options are chosen; None if it is not valid."""
        if self.record is not None and self.record.text is self.text:
            return self.record.facts()
        return facts_of_text(self.text)

    def without_record(self) -> LoweredModule:
        """The module without the record that only its compilation needs."""
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
        donated: for each input, True if a result may have its memory; ``InPlace`` names the result,
            unless a Python function runs in the program, after whose failure the input is used.
        annotated: True to write a comment with the operation above the lines of each operation.
        partition: the devices and shardings if it runs on several devices.
        parts: the manual region that the program is, if it is one.
        layouts: the layouts of its inputs and results, if not the default.
        located: True to write source locations, for a text that is shown.
    """
    program = mutable_values.discharge(program)
    jaxpr = program.jaxpr
    donated = list(donated) or [False] * len(jaxpr.invars)
    kept = [True] * len(jaxpr.invars)
    if not keep_unused:
        in_place = [isinstance(d, InPlace) for d in donated]
        jaxpr, kept = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), in_place)
    module = ModuleText(platform, annotated, located or are_used(), partition)
    module.parts, module.located = parts, f"jit({name})"
    b = (LocatingBuilder if located else AnnotatingBuilder if module.marks else Builder)(module)
    large = [(c, v) for c, v in zip(program.consts, jaxpr.constvars) if not is_in_module(c)]
    const_args = b.arguments([v.aval for _, v in large])
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
        f"{a.name}: {a.type}{_argument_attributes(alias, partition, layouts, i, a)}"
        for i, a in zip(numbers, args)
    ]
    results = [_result_type(partition, layouts, o, v.aval) for o, v in enumerate(jaxpr.outvars)]
    types, n = ", ".join(results), len(partition.devices) if partition else 1
    main = f"func.func public @main({', '.join(head)}) -> ({types}) {{\n{''.join(b.lines)}}}\n"
    many = f" attributes {{mhlo.num_partitions = {n} : i32}}" if n > 1 else ""
    text = f"module @{identifier(f'jit_{name}')}{many} {{\n{main}{''.join(module.functions)}}}\n"
    aliased = tuple(i in alias for i, k in enumerate(kept) if k)
    in_avals = tuple(x.aval for x in (*const_args, *args))
    return LoweredModule(
        text, name, platform, tuple([c for c, _ in large]), tuple(kept), tuple(program.out_avals),
        aliased, tuple(unusable), tuple(module.callbacks),
        frozenset(e for e in jaxpr.effects if not isinstance(e, InputEffect)), partition, layouts,
        in_avals, _record(text, module, numbers, args, jaxpr.outvars),
    )  # fmt: skip


def _record(
    text: str, module: ModuleText, kept: Sequence[int], args: Sequence[Any], outs: Sequence[Any]
) -> ModuleRecord | None:
    """The emitted operations of a module; None if MLIR's bindings wrote a part of it."""
    if module.mlir_functions:
        return None
    shardings = list[tuple[Any, int]]()
    if module.partition is not None:
        given = [*[module.partition.ins[i] for i in kept], *module.partition.outs]
        shardings = [(s, len(x.aval.shape)) for s, x in zip(given, (*args, *outs))]
    return ModuleRecord(text, module, [v.aval for v in outs], shardings)


def _return(b: Builder, outs: Sequence[Val], partition: Partition | None) -> None:
    for group in partition.alike if partition is not None else ():
        b.divided_alike([outs[i] for i in group])
    b.terminate("func.return", outs)


def _constants(b: Builder, program: ClosedJaxpr, arguments: Sequence[Val]) -> list[Val]:
    """Values of a program's constants: operations for small ones, arguments for the others."""
    rest = iter(arguments)
    pairs: list[tuple[Any, Any]] = list(zip(program.consts, program.jaxpr.constvars))
    return [b.constant(c, v.aval) if is_in_module(c) else next(rest) for c, v in pairs]


def _argument_attributes(
    alias: Mapping[int, int], partition: Partition | None, layouts: Layouts | None, i: int, x: Val
) -> str:
    """The text of the attributes of an argument of ``main``."""
    attributes: dict[str, Attribute] = {}
    if i in alias and partition is None and alias[i] != DONOR:
        attributes["tf.aliasing_output"] = i32(alias[i])
    elif i in alias:  # the result that can have its memory depends on shardings
        attributes["jax.buffer_donor"] = boolean(True)
    sharding, mode = partition and partition.ins[i], layouts and layouts.ins[i]
    attributes.update(_sharding_and_layout(partition, sharding, mode, x.aval))
    return f" {{{spelled(attributes)}}}" if attributes else ""


def _result_type(partition: Partition | None, layouts: Layouts | None, o: int, aval: Any) -> str:
    """The type of a result of ``main``, with its attributes."""
    sharding, mode = partition and partition.outs[o], layouts and layouts.outs[o]
    attributes = _sharding_and_layout(partition, sharding, mode, aval)
    return f"{tensor_type(aval)} {{{spelled(attributes)}}}" if attributes else tensor_type(aval)


def _sharding_and_layout(
    partition: Partition | None, sharding: Any, mode: str | None, aval: Any
) -> dict[str, Attribute]:
    """The attributes for the sharding and the layout of an argument or result of ``main``."""
    result: dict[str, Attribute] = {}
    text = partition and partition.attribute(sharding, len(aval.shape))
    if text is not None:
        result["sdy.sharding"] = text
    if mode is not None:
        result["mhlo.layout_mode"] = string(mode)
    return result


DONOR = -1
"""The number of no output: XLA chooses the output that gets a buffer, if any."""


class _Form(NamedTuple):
    """The properties that an output shares with an input whose buffer it can have.

    Attributes:
        type: the shape and dtype of one device's part, and the layout; None if unknown.
        size: the number of elements of that part.
    """

    type: Any
    size: int | None


def _form(aval: Any, sharding: Any, partition: Partition | None, layout: str | None) -> _Form:
    shape = aval.shape
    if partition is not None:
        if sharding is None:
            return _Form(None, None)
        shape = sharding.shard_shape(shape)
    return _Form((shape, aval.dtype, layout), prod(shape))


def _aliases(
    program: ClosedJaxpr,
    kept: Sequence[bool],
    donated: Sequence[bool | InPlace],
    partition: Partition | None,
    layouts: Layouts | None,
) -> tuple[dict[int, int], list[Any]]:
    """The outputs that get buffers of donated inputs, by input, and the types of unusable inputs.

    An input's output is the first free one of equal type. If there is none, but one with as many
    elements or of unknown sharding, the output is ``DONOR``.
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
