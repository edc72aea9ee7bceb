"""From a program to a module: passes, and lowering to StableHLO."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

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
)
from dovetail_core.interpret.passes import run_passes
from dovetail_hooks import has_hooks, manager


def module_of(
    program: ClosedJaxpr,
    name: str,
    platform: str,
    donated: Sequence[Any] = (),
    keep_unused: bool = False,
    partition: Partition | None = None,
    layouts: Layouts | None = None,
    remember: bool = False,
) -> LoweredModule:
    """The module that a program is lowered to (see :func:`lower`).

    ``remember``: with the program, for all who look at it. What a call lowers is remembered by its
    executable.
    """
    asked = name, platform, tuple(donated), keep_unused, partition, layouts
    key = "module", generation.value, *asked
    if remember:
        return program.memo(key, partial(lower, program, *asked))
    result = program.known(key)
    return lower(program, *asked) if result is None else result


def lower(
    program: ClosedJaxpr,
    name: str,
    platform: str,
    donated: Sequence[Any] = (),
    keep_unused: bool = False,
    partition: Partition | None = None,
    layouts: Layouts | None = None,
    located: bool = False,
) -> LoweredModule:
    """Run the passes on a program and lower it to StableHLO.

    ``located``: to show it, with where operations come from, ahead of the passes of the stage
    ``module``; nobody else is told.
    """
    start, source, divided = time.perf_counter(), program, partition is not None
    program = run_passes("hi", program, platform, divided)
    if program.is_high:
        program = mutable_values.discharge(program)  # what holds high values must go before they do
        donated = _donated_arrays(donated, program)
        program = lower_to_lo(program)
    program = run_passes("ir", program, platform, divided)
    try:
        module = lower_module(
            program, platform, name, donated, keep_unused, partition=partition, layouts=layouts,
            located=located,
        )  # fmt: skip
    except Exception as e:
        raise_explained(program, platform, name, e)
    if located:
        return module
    text = run_passes("module", module.text, platform, divided)
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
