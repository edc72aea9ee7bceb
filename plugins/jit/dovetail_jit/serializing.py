"""Compiled programs as bytes, for another process on a machine of the same kind."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import LoweredModule, Partition, devices as all_devices
from dovetail_core import ClosedJaxpr, Jaxpr, Var, here
from dovetail_xla import execution, options as xla_options
from dovetail_xla.client import Device, device_list

from .call.executable import Executable, executable_of
from .call.mutable_arguments import boundary_of
from .call.program import Program
from .call.request import all_options, compile_uncached
from .stages import Compiled

_MAGIC = b"dovetail executable 1\n"


class _Saved(NamedTuple):
    """The facts that are saved beside the executable."""

    name: str
    module: LoweredModule
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    consts: Sequence[Any]
    donated: tuple[Any, ...]
    committed: bool
    devices: tuple[Any, ...]
    grid: Any
    shardings: tuple[Any, Any]
    body: bytes


class _Origin:
    """The stages behind a loaded program, as far as they are known."""

    def __init__(self, saved: _Saved, program: Program, in_tree: Any) -> None:
        self._program, self._donated, self._committed = program, saved.donated, saved.committed
        self._traced, self.fun_name = self, saved.name
        self.in_tree, self.out_tree = in_tree, program.out_tree


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return ("device", obj.id) if isinstance(obj, Device) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, devices: dict[int, Any]) -> None:
        super().__init__(file)
        self.devices = devices

    def persistent_load(self, pid: Any) -> Any:
        result = self.devices.get(pid[1])
        if result is None:
            raise ValueError(
                f"deserialize_and_load{here()}: the program was compiled for a device number "
                f"{pid[1]}, which is not there; there are {sorted(self.devices)}. Give "
                "execution_devices."
            )
        return result


def serialize(compiled: Compiled) -> tuple[bytes, Any, Any]:
    """A compiled program as bytes, and the structures of its arguments and its result.

    The bytes are for the same version of jaxlib, the same platform and kind of machine, and contain
    what the program closes over.

    Raises:
        ValueError: it calls Python functions or has effects, which bytes cannot have; or it is
            none that ``compile()`` returned, or one that was loaded from bytes.
    """
    if not isinstance(compiled, Compiled):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(
            f"serialize{here()} takes what jit(f).lower(...).compile() returns, got a value of "
            f"type {type(compiled).__name__}."
        )
    executable, program = compiled._executable, compiled._program
    module, call = executable.module, program.call
    name = compiled._lowered._traced.fun_name
    if module.host_callbacks or module.effects or boundary_of(call) is not None:
        raise ValueError(
            f"serialize of {name}{here()}: the program calls Python, has effects or is about "
            "references, which are of this process."
        )
    partition = module.partition
    plain = replace(
        module, text="", partition=None, const_args=tuple(map(np.asarray, module.const_args))
    )
    client = executable.device.client
    saved = _Saved(
        name, plain, call.in_avals, call.out_avals, [np.asarray(c) for c in program.consts],
        tuple(map(bool, compiled._donated)), compiled._lowered._committed,
        (executable.device,) if partition is None else tuple(partition.devices),
        None if partition is None else partition.grid,
        ((), ()) if partition is None else (partition.ins, partition.outs),
        execution.serialize(client, _compiled(executable, name)),
    )  # fmt: skip
    file = io.BytesIO()
    file.write(_MAGIC)
    pickle.dump([d.id for d in saved.devices], file)
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(tuple(saved))
    return file.getvalue(), compiled.in_tree, compiled.out_tree


def _compiled(executable: Executable, name: str) -> Any:
    """The runtime's executable; compiled anew where it was loaded: of what was, the runtime's bytes
    lack functions, which is noticed only when it runs."""
    if not executable.was_loaded:
        return executable.loaded
    if not executable.module.text:
        raise ValueError(
            f"serialize of {name}{here()}: the program was itself loaded from bytes. Keep those."
        )
    module = executable.module
    options = all_options(module.platform, executable.options)
    return compile_uncached(module, executable.device, options, "default")


def deserialize_and_load(
    serialized: bytes,
    in_tree: Any,
    out_tree: Any,
    backend: Any = None,
    execution_devices: Sequence[Any] | None = None,
) -> Compiled:
    """The compiled program that :func:`serialize` made bytes of.

    These are code: load only bytes from a trusted source.

    Args:
        in_tree, out_tree: the structures of arguments and result, from :func:`serialize`.
        backend: the platform, or a client; the default one by default.
        execution_devices: as many devices as it was compiled for, in that order; by default those
            with the same numbers.

    Raises:
        ValueError: the bytes are something else; there are other devices.
    """
    if not serialized.startswith(_MAGIC):
        raise ValueError(f"deserialize_and_load{here()}: these bytes are not from serialize.")
    named = backend if isinstance(backend, str) or backend is None else backend.platform
    there = {d.id: d for d in all_devices(named)}
    file = io.BytesIO(serialized)
    file.seek(len(_MAGIC))
    numbers = pickle.load(file)
    if execution_devices is not None:
        there = _in_place(numbers, execution_devices)
    saved = _Saved(*_Unpickler(file, there).load())
    devices = device_list(saved.devices)
    client = saved.devices[0].client
    build: dict[str, Any] = {}
    module = saved.module
    if saved.grid is not None:
        module = replace(module, partition=Partition(devices, saved.grid, *saved.shardings))
        build = {"num_partitions": len(devices)}
    options = xla_options.compile_options(client, device_ids=[d.id for d in devices], **build)
    loaded = execution.deserialize(client, saved.body, devices, options)
    jaxpr = Jaxpr([], list(map(Var, saved.in_avals)), list(map(Var, saved.out_avals)), [])
    call = ClosedJaxpr(jaxpr)
    program = Program(call, list(saved.consts), out_tree, 0.0, 0, call)
    made = executable_of(module, loaded, saved.devices[0], program.call)
    made.was_loaded = True
    return Compiled(_Origin(saved, program, in_tree), made)  # type: ignore[arg-type]


def _in_place(numbers: Sequence[int], given: Sequence[Any]) -> dict[int, Any]:
    if len(numbers) != len(given):
        raise ValueError(
            f"deserialize_and_load{here()}: the program was compiled for {len(numbers)} devices, "
            f"and execution_devices has {len(given)}. Give one for each."
        )
    return dict(zip(numbers, given))


__all__ = ["deserialize_and_load", "serialize"]
