"""From a program to a module: passes, and lowering to StableHLO."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

from dovetail_backends import (
    InPlace,
    Layouts,
    LoweredModule,
    Partition,
    explain_failure,
    lower_module,
)
from dovetail_base.source import warn_here
from dovetail_core import (
    ClosedJaxpr,
    RegistryError,
    generation,
    low_types,
    lower_to_lo,
    mutable_values,
    passes,
)
from dovetail_hooks import has_hooks, manager


class Lowering(NamedTuple):
    """All on which the module of a program depends.

    Attributes:
        name: of the function. platform: as ``"cpu"``.
        donated: per operand whether its memory is given away, and to which result.
        keep_unused: whether operands that the program does not use are passed all the same.
        partition: the devices, if there are several. layouts: of operands and results in memory.
    """

    name: str
    platform: str
    donated: tuple[Any, ...] = ()
    keep_unused: bool = False
    partition: Partition | None = None
    layouts: Layouts | None = None


def module_of(program: ClosedJaxpr, how: Lowering, remember: bool = False) -> LoweredModule:
    """The module that a program is lowered to (see :func:`lower`).

    ``remember``: with the program, for all who inspect it. The module that a call lowers is
    remembered by its executable.
    """
    key = "module", generation.value, how
    if remember:
        return program.memo(key, partial(lower, program, how))
    result = program.known(key)
    return lower(program, how) if result is None else result


def lower(program: ClosedJaxpr, how: Lowering, located: bool = False) -> LoweredModule:
    """Run the passes on a program and lower it to StableHLO.

    ``located``: to show it, with the source locations of operations, ahead of the passes of the
    stage ``module``; hooks are not called.
    """
    name, platform, donated, keep_unused, partition, layouts = how
    start, source, divided = time.perf_counter(), program, partition is not None
    program = passes.run_passes("hi", program, platform, divided)
    if program.is_high:
        program = mutable_values.discharge(program)  # what holds high values must go before they do
        donated = tuple(_donated_arrays(donated, program))
        program = lower_to_lo(program)
    program = passes.run_passes("ir", program, platform, divided)
    try:
        module = lower_module(
            program, platform, name, donated, keep_unused, partition=partition, layouts=layouts,
            located=located,
        )  # fmt: skip
    except Exception as e:
        raise_explained(program, platform, name, e)
    if located:
        return module
    text = passes.run_passes("module", module.text, platform, divided)
    if text is not module.text:
        module = module.__class__(**{**vars(module), "text": text})
    if has_hooks("dovetail_lowered"):
        seconds = time.perf_counter() - start
        manager().hook.dovetail_lowered(
            name=name, module=module.text, seconds=seconds, program=source
        )
    if module.unusable:
        _warn_of_unusable(module, name)
    return module


def _warn_of_unusable(module: LoweredModule, name: str) -> None:
    where = " (on each device)" if module.partition is not None else ""
    for aval in module.unusable:
        warn_here(
            f"Some donated buffers were not usable. {name}: a donated argument of type "
            f"{aval.str_short()}{where} is not used for any result: no result has its type. Do not "
            "donate it.",
            UserWarning,
        )


def raise_explained(program: ClosedJaxpr, platform: str, name: str, error: Exception) -> NoReturn:
    """Raise the error that names the operation behind ``error``, else ``error`` itself."""
    if not isinstance(error, RegistryError):  # which is about an operation already
        low = lower_to_lo(program) if program.is_high else program
        result = explain_failure(low, platform, name, error)
        if result is not None:
            raise result from error
    raise error


def _donated_arrays(donated: Sequence[Any], program: ClosedJaxpr) -> list[Any]:
    """Per array of a program's inputs whether it is given away, and to which array of a result."""
    start, starts = 0, list[int]()
    for aval in program.out_avals:
        starts.append(start)
        start += len(low_types((aval,)))
    result: list[Any] = []
    for flag, aval in zip(donated, program.in_avals):
        for i in range(len(low_types((aval,)))):
            in_place = isinstance(flag, InPlace)
            result.append(InPlace(starts[flag.output] + i) if in_place else flag)
    return result
