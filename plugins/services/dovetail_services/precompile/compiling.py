"""Compiling programs that another process has recorded, into the cache on disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dovetail_backends import LoweredModule, Partition, backend as backend_named
from dovetail_jit import compile_with_cache
from dovetail_xla import ffi, lapack
from dovetail_xla.client import device_list

from .entry import Entry, devices, flags_now, versions_now

_TARGET = re.compile(r'custom_call(?:"[^\n]*?call_target_name = "| @)([A-Za-z_]\w*)')


def problem(entry: Entry) -> str:
    """The reason why a program cannot be compiled here for a later run; empty if it can."""
    if entry.flags != flags_now():
        return f"it was recorded with {_shown(entry.flags)}, and here is {_shown(flags_now())}"
    try:
        count = len(backend_named(entry.platform).devices())
    except (ValueError, RuntimeError) as e:
        return str(e)
    if count != entry.count:
        return f"it was recorded with {devices(entry.count)}, and here is {devices(count)}"
    return ""


def _shown(flags: Mapping[str, str]) -> str:
    return " ".join(f"{k}={v!r}" for k, v in sorted(flags.items())) or "no XLA_FLAGS"


def foreign(entry: Entry) -> str:
    """The versions a program was recorded with, where they are others than these."""
    own = versions_now()
    theirs = {"jaxlib": entry.jaxlib, "dovetail": entry.dovetail}
    result = [f"{k} {v} (here {own[k]})" for k, v in theirs.items() if v != own[k]]
    return " and ".join(result)


def compile_entry(entry: Entry) -> bool:
    """Compile a program into the cache; whether it was there already."""
    there = {d.id: d for d in backend_named(entry.platform).devices()}
    own = [there[i] for i in entry.devices]
    _register_targets(entry.module)
    _, cached = compile_with_cache(_module(entry, own), own[0], entry.options)
    return cached


def _module(entry: Entry, given: list[Any]) -> LoweredModule:
    constants: tuple[Any, ...] = ()
    kept: tuple[bool, ...] = ()
    partition = None
    if entry.parts is not None:
        constants, kept = (None,) * entry.parts.constants, entry.parts.kept
        ins, outs = (
            tuple([None if chosen else _GIVEN for chosen in x])
            for x in (entry.parts.chosen_ins, entry.parts.chosen_outs)
        )
        grid: Any = None  # which is for writing modules, and this one is written
        partition = Partition(device_list(given), grid, ins, outs)
    callbacks: tuple[Callable[..., Any], ...] = (_never_called,) * entry.callbacks
    return LoweredModule(
        entry.module, entry.name, entry.platform, constants, kept, (), (), (),
        host_callbacks=callbacks, partition=partition,
    )  # fmt: skip


_GIVEN = object()
"""Stands for a sharding that the module names."""


def _never_called(*args: Any) -> Any:
    raise RuntimeError("a program that was only compiled has been run")


def _register_targets(text: str) -> None:
    """Register the foreign functions of jaxlib that a module may call, unless all are there."""
    if set(_TARGET.findall(text)) - set(ffi.registered_targets()):
        lapack.register()
