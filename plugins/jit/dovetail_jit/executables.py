"""Executables: a program lowered and compiled for a device, and how it is called."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from dovetail_backends import (
    LoweredModule,
    asarray_on,
    backend_of,
    explain_failure,
    give_away,
    lower_module,
    target_device,
)
from dovetail_core import (
    ClosedJaxpr,
    RegistryError,
    float0,
    generation,
    low_types,
    lower_to_lo,
    lower_values,
    typeof,
)
from dovetail_core.base.keys import exact_key
from dovetail_core.interpret.mutable import without_mutable
from dovetail_core.interpret.passes import run_passes
from dovetail_core.registry.hooks import has_hooks, manager
from dovetail_core.xla import execution
from dovetail_core.xla.arrays import ArrayImpl
from dovetail_core.xla.calls import FastPath
from dovetail_core.xla.shardings import single_device_sharding

from .disk_cache import compile_with_cache
from .effects import run_with_effects


class Executable:
    """A compiled program on one device."""

    def __init__(
        self, module: LoweredModule, loaded: Any, device: Any, in_avals: Sequence[Any]
    ) -> None:
        self.module = module
        self.loaded = loaded
        self.device = device
        self.in_avals = list(in_avals)
        self.sharding = single_device_sharding(device)
        self.constants = [self._array(c, typeof(c).strong()) for c in module.const_args]
        self._handlers: dict[bool, list[Any]] = {}
        # The runtime has no arrays of float0, the tangents of integers: they are NumPy's.
        self._nothing = {i: a.shape for i, a in enumerate(module.out_avals) if a.dtype == float0}

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any]:
        """Run on the program's (flat) arguments."""
        kept = [
            self._array(x, a) for x, a, keep in zip(leaves, self.in_avals, self.module.kept) if keep
        ]
        handlers = self._handlers.get(committed)
        if handlers is None:
            outs = self.module.out_avals
            handlers = execution.result_handlers(outs, [self.sharding] * len(outs), committed)
            self._handlers[committed] = handlers
        arrays = [*self.constants, *kept]
        effects = self.module.effects
        out: list[Any]
        if effects:
            ordered = any(e.ordered for e in effects)
            out = run_with_effects(self.loaded, arrays, handlers, ordered)
        else:
            out = execution.run(self.loaded, arrays, handlers)
        for x, d in zip(kept, self.module.donated):
            if d:  # the runtime has taken its memory: now C++ sends its use to Python
                give_away(x, self.module.name)
        for i, shape in self._nothing.items():
            out[i] = np.zeros(shape, float0)
        return out

    def fast_path(
        self, out_tree: Any, committed: bool, consts: Sequence[Any] = ()
    ) -> FastPath | None:
        """What the C++ call path needs to repeat the call without Python.

        None where it must not be: the program has effects, whose end and order are kept in Python,
        or results of float0.
        ``consts`` are leading arguments that every call has in common.
        """
        if self.module.effects or self._nothing:
            return None
        n_out, n_in = len(self.module.out_avals), len(self.constants) + sum(self.module.kept)
        common = [self._array(c, a) for c, a in zip(consts, self.in_avals)]
        return FastPath(
            self.loaded,
            out_tree,
            [self.sharding] * n_in,
            [self.sharding] * n_out,
            self.module.out_avals,
            [committed] * n_out,
            [*[True] * len(self.constants), *self.module.kept],
            [None] * n_in,
            [*self.constants, *common],
        )

    def _array(self, x: Any, aval: Any) -> Any:
        if x.__class__ is ArrayImpl and x._sharding is self.sharding and not x.is_deleted():  # type: ignore[union-attr]
            return x
        return asarray_on(x, aval, self.device)


def placement(leaves: Sequence[Any], name: str) -> tuple[Any, bool]:
    """The device that a call runs on, and whether its results are committed to it.

    Raises:
        ValueError: two arguments are committed to different devices; names both.
    """
    return common_device(committed_to(leaves), name)


def committed_to(leaves: Sequence[Any]) -> list[tuple[int, Any]]:
    """The arguments of a call that are committed to a device: their positions and devices."""
    found: list[tuple[int, Any]] = []
    for i, x in enumerate(leaves):
        if x.__class__ is ArrayImpl:
            if x._committed:  # type: ignore[union-attr]
                (device,) = x.devices()  # type: ignore[union-attr]
                found.append((i, device))
        elif typeof(x).is_high:
            inside = committed_to(lower_values((x,), "asked for to place it"))
            found += [(i, device) for _, device in inside]
    return found


def common_device(committed: Sequence[tuple[int, Any]], name: str) -> tuple[Any, bool]:
    """The device of a call whose arguments are ``committed`` to these (see :func:`placement`)."""
    if not committed:
        return target_device(), False
    first, chosen = committed[0]
    for i, device in committed:
        if device is not chosen:
            raise ValueError(
                f"{name} received arrays on different devices: leaf {first} of its arguments is "
                f"on {chosen}, leaf {i} on {device}. Move them to one device with device_put."
            )
    return chosen, True


def executable_for(
    program: ClosedJaxpr,
    name: str,
    device: Any,
    *,
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    options: Mapping[str, Any] | None = None,
    profile: str = "default",
) -> Executable:
    """Lower and compile a program for a device; remembered with the program."""
    key = executable_key(device, donated, keep_unused, options, profile)
    found = program.cache.get(key)
    if found is None:
        module = lower(program, name, backend_of(device).platform, donated, keep_unused, profile)
        found = compile_module(module, program, device, options, profile)
        program.cache[key] = found
    return found


def executable_key(
    device: Any,
    donated: Sequence[bool],
    keep_unused: bool,
    options: Mapping[str, Any] | None,
    profile: str = "default",
    lowered_at: int | None = None,
) -> tuple[Any, ...]:
    """Under what a program remembers its executable (see :func:`executable_for`).

    ``lowered_at`` is the generation of the rules that lowered it, now by default.
    """
    at = generation.value if lowered_at is None else lowered_at
    named = options_key(options or {})
    return "executable", device, tuple(donated), keep_unused, named, profile, at


def options_key(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Compiler options as part of a key: to XLA ``True`` is not ``1``."""
    return tuple((k, exact_key(v)) for k, v in sorted(options.items()))


def lower(
    program: ClosedJaxpr,
    name: str,
    platform: str,
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    profile: str = "default",
) -> LoweredModule:
    """Run the passes on a program and lower it to StableHLO."""
    start = time.perf_counter()
    if profile == "default":
        program = run_passes("hi", program)
    if program.is_high:
        from .high import donated_arrays

        program = without_mutable(program)  # what holds high values must go before they do
        donated = donated_arrays(donated, program)
        program = lower_to_lo(program)
    if profile == "default":
        program = run_passes("ir", program)
    try:
        module = lower_module(program, platform, name, donated, keep_unused)
    except Exception as e:
        _raise_explained(program, platform, name, e)
    if profile == "default":
        text = run_passes("module", module.text)
        if text is not module.text:
            module = module.__class__(**{**vars(module), "text": text})
        if has_hooks("dovetail_lowered"):
            seconds = time.perf_counter() - start
            manager().hook.dovetail_lowered(name=name, module=text, seconds=seconds)
    for aval in module.unusable:
        warnings.warn(
            f"{name}: a donated argument of type {aval.str_short()} is not used for any result: no "
            "result has its type. Do not donate it.",
            stacklevel=6,
        )
    return module


def _raise_explained(program: ClosedJaxpr, platform: str, name: str, error: Exception) -> NoReturn:
    """Raise the error that names the operation to blame for ``error``, else ``error`` itself."""
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
) -> Executable:
    """Compile a module, to which ``program`` was lowered, for a device."""
    start = time.perf_counter()
    try:
        loaded, cached = compile_with_cache(module, device, options, profile)
    except Exception as e:
        _raise_explained(program, module.platform, module.name, e)
    if profile == "default" and has_hooks("dovetail_compiled"):
        seconds = time.perf_counter() - start
        manager().hook.dovetail_compiled(
            name=module.name, platform=module.platform, cached=cached, seconds=seconds
        )
    low = low_types(program.in_avals)
    if any(a.is_high for a in (*program.in_avals, *program.out_avals)):
        from .high import HighExecutable

        return HighExecutable(module, loaded, device, low, program.out_avals)
    return Executable(module, loaded, device, low)
