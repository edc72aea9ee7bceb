"""Lowering and compiling programs; the executables are remembered with the programs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from dovetail_backends import (
    InPlace,
    Layouts,
    LoweredModule,
    Partition,
    backend_of,
    explain_failure,
    first_device,
    lower_module,
    refuse_lacking,
)
from dovetail_base.keys import exact_key
from dovetail_core import ClosedJaxpr, RegistryError, generation, low_types, lower_to_lo
from dovetail_core.interpret.mutable import without_mutable
from dovetail_core.interpret.passes import run_passes
from dovetail_core.registry.hooked import has_hooks, manager

from .disk_cache import compile_with_cache
from .executables import Executable, HighExecutable
from .provisional import Provisional


def executable_for(
    program: ClosedJaxpr,
    name: str,
    place: Any,
    *,
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    options: Mapping[str, Any] | None = None,
    profile: str = "default",
    may_wait: bool = False,
    layouts: Layouts | None = None,
) -> Executable:
    """Lower and compile a program for a device or a partition; remembered with the program.

    ``may_wait``: the caller can do with a provisional executable (see ``provisional.py``).
    """
    key = executable_key(place, donated, keep_unused, options, profile, layouts=layouts)

    def make() -> Executable:
        device = first_device(place)
        platform, partition = backend_of(device).platform, partition_of(place)
        module = lower(program, name, platform, donated, keep_unused, partition, layouts)
        return compile_module(module, program, device, options, profile, may_wait, shared=True)

    return program.memo(key, make)


def partition_of(place: Any) -> Partition | None:
    """How a program is divided; None where it runs on one device."""
    return place if place.__class__ is Partition else None


def executable_key(
    place: Any,
    donated: Sequence[bool],
    keep_unused: bool,
    options: Mapping[str, Any] | None,
    profile: str = "default",
    lowered_at: int | None = None,
    layouts: Layouts | None = None,
) -> tuple[Any, ...]:
    """Under what a program remembers its executable (see :func:`executable_for`).

    ``lowered_at`` is the generation of the rules that lowered it, now by default.
    """
    at = generation.value if lowered_at is None else lowered_at
    named = options_key(options or {})
    return "executable", place, tuple(donated), keep_unused, named, profile, at, layouts


def options_key(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Compiler options as part of a key: to XLA ``True`` is not ``1``."""
    return tuple((k, exact_key(v)) for k, v in sorted(options.items()))


def lower(
    program: ClosedJaxpr,
    name: str,
    platform: str,
    donated: Sequence[bool] = (),
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
        program = without_mutable(program)  # what holds high values must go before they do
        donated = _donated_arrays(donated, program)
        program = lower_to_lo(program)
    program = run_passes("ir", program, platform, divided)
    try:
        module = lower_module(
            program, platform, name, donated, keep_unused, partition=partition, layouts=layouts,
            located=located,
        )  # fmt: skip
    except Exception as e:
        _raise_explained(program, platform, name, e)
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
    where = " (on each device)" if divided else ""
    for aval in module.unusable:
        warnings.warn(
            f"Some donated buffers were not usable. {name}: a donated argument of type "
            f"{aval.str_short()}{where} is not used for any result: no result has its type. Do not "
            "donate it.",
            stacklevel=6,
        )
    return module


def _raise_explained(program: ClosedJaxpr, platform: str, name: str, error: Exception) -> NoReturn:
    """Raise the error that names the operation behind ``error``, else ``error`` itself."""
    if not isinstance(error, RegistryError):  # which is about an operation already
        low = lower_to_lo(program) if program.is_high else program
        found = explain_failure(low, platform, name, error)
        if found is not None:
            raise found from error
    raise error


def compile_module(
    module: LoweredModule,
    program: ClosedJaxpr,
    device: Any,
    options: Mapping[str, Any] | None = None,
    profile: str = "default",
    may_wait: bool = False,
    shared: bool = False,
) -> Executable:
    """Compile a module, to which ``program`` was lowered, for a device.

    ``shared``: what was compiled of an equal module will do (see ``compiled_before.py``).
    """
    refuse_lacking(backend_of(device), program, module.name)
    start = time.perf_counter()
    try:
        begins = program if may_wait else None
        loaded, cached = compile_with_cache(module, device, options, profile, begins, shared)
    except Exception as e:
        _raise_explained(program, module.platform, module.name, e)
    seconds = time.perf_counter() - start
    successor = None
    if isinstance(loaded, Provisional):
        loaded, successor = loaded
    made = executable_of(module.without_record(), loaded, device, program)
    made.profile, made.successor, made.was_loaded = profile, successor, cached
    if options:
        made.options = dict(options)
    if has_hooks("dovetail_compiled"):
        manager().hook.dovetail_compiled(
            name=module.name, platform=module.platform, cached=cached, seconds=seconds,
            program=program, executable=made,
        )  # fmt: skip
    return made


def executable_of(
    module: LoweredModule, loaded: Any, device: Any, program: ClosedJaxpr
) -> Executable:
    """A loaded executable as one of a program."""
    if any(a.is_high for a in (*program.in_avals, *program.out_avals)):
        return HighExecutable(module, loaded, device, program)
    return Executable(module, loaded, device, program.in_avals)


def executables_of(program: ClosedJaxpr) -> list[Executable]:
    """The executables that a program remembers."""
    return [x for x in list(program.cache.values()) if isinstance(x, Executable)]


def _donated_arrays(donated: Sequence[Any], program: ClosedJaxpr) -> list[Any]:
    """Per array of a program's inputs whether it is given away, and to which array of a result."""
    start, starts = 0, list[int]()
    for aval in program.out_avals:
        starts.append(start)
        start += len(low_types((aval,)))
    found: list[Any] = []
    for flag, aval in zip(donated, program.in_avals):
        for i in range(len(low_types((aval,)))):
            in_place = isinstance(flag, InPlace)
            found.append(InPlace(starts[flag.output] + i) if in_place else flag)
    return found
