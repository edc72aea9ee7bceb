"""Executables: compiled, saved and loaded, run on arrays, and inspected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _bindings as _b
from ._bindings import (
    ArrayImpl,
    Client,
    CompileOptions,
    DeviceList,
    Executable as Executable,
    JaxRuntimeError,
    LoadedExecutable as LoadedExecutable,
    ResultHandler,
    ifrt_programs as ifrt_programs,
)
from .callbacks import exception_behind, require_callbacks
from .fork import forked
from .interrupts import can_be_interrupted, leave_at_once, run_to_the_end
from .options import option_errors

before_compiling: list[Callable[..., None]] = []
"""Functions that are called with the arguments of each compilation, and may refuse it: raise."""


def compile(
    client: Client,
    module: Any,
    devices: DeviceList,
    options: CompileOptions,
    host_callbacks: Sequence[Callable[..., Any]] = (),
) -> LoadedExecutable:
    """Compiles a module with a public function `main`, ready to run.

    `module` is StableHLO text, MLIR bytecode, a portable artifact or an `ir.Module`. Custom calls
    to `callbacks.TARGET` or `callbacks.BUFFER_TARGET` with `index = k` call `host_callbacks[k]`.
    Raises ValueError for an unknown or ill-typed compiler option and for missing callbacks,
    XlaRuntimeError otherwise.
    """
    require_callbacks(module, len(host_callbacks))
    for watch in before_compiling:
        watch(client, module, devices, options, host_callbacks)
    callbacks = {"host_callbacks": list(host_callbacks)} if host_callbacks else {}

    def call() -> LoadedExecutable:
        return client.compile_and_load(module, devices, options, **callbacks)

    with option_errors:
        if isinstance(module, (str, bytes)):
            if not host_callbacks and (forked() or not can_be_interrupted()):
                return call()
            if not host_callbacks and len(module) < SHORT:
                return run_to_the_end(call, "XLA's compiler, which was interrupted,")
            from . import mlir

            module = mlir.parse(module)
        return leave_at_once(call)


SHORT = 32_768
"""Characters; a shorter program takes a fraction of a second to compile (see `interrupts`)."""


def serialize(client: Client, executable: LoadedExecutable) -> bytes:
    """The compiled program as bytes, for the same jaxlib version, platform and machine kind."""
    return bytes(client.serialize_executable(executable))


def deserialize(
    client: Client,
    blob: bytes,
    devices: DeviceList,
    options: CompileOptions | None = None,
    host_callbacks: Sequence[Callable[..., Any]] = (),
) -> LoadedExecutable:
    """Loads what `serialize` made; it is code, so load only blobs from a trusted source.

    Raises XlaRuntimeError for a damaged or foreign blob, ValueError for missing callbacks.
    """
    require_callbacks(blob, len(host_callbacks))
    if host_callbacks:
        return client.deserialize_executable(blob, devices, options, list(host_callbacks))
    return client.deserialize_executable(blob, devices, options)


# jaxlib 0.10 checks device order in Python unless told to skip it; 0.12 dropped the argument.
_SKIP_CHECKS = (True,) if "_skip_checks" in str(_b.array_result_handler.__doc__) else ()


def result_handler(aval: Any, sharding: Any, committed: bool) -> ResultHandler:
    """The function that makes an array of type `aval` of one result, for any number of runs."""
    return _b.array_result_handler(aval, sharding, committed, *_SKIP_CHECKS)


def result_handlers(
    avals: Sequence[Any], shardings: Sequence[Any], committed: Sequence[bool] | bool
) -> list[ResultHandler]:
    """One handler per result, to give to `run`."""
    flags = [committed] * len(avals) if isinstance(committed, bool) else committed
    return [
        result_handler(aval, sharding, flag)
        for aval, sharding, flag in zip(avals, shardings, flags, strict=True)
    ]


def run(
    executable: LoadedExecutable, arrays: Sequence[ArrayImpl], handlers: Sequence[ResultHandler]
) -> list[ArrayImpl]:
    """Runs on arrays already laid out as compiled; about 4 us; returns before results are ready.

    C++ checks the number of arguments, their sizes in bytes and their devices, but not their
    dtypes: that is the caller's duty. TypeError for a host value, the exception itself where a
    callback raised one, XlaRuntimeError otherwise.
    """
    try:
        return executable.execute_sharded(arrays).consume_with_handlers(handlers)
    except JaxRuntimeError as error:
        failure = [exception_behind(error)]
    raise failure.pop()


def run_ahead(executable: LoadedExecutable, arrays: Sequence[ArrayImpl]) -> None:
    """Runs on arrays that are not used elsewhere, waits, and drops the results, so that later runs
    need not wait for the runtime's preparations of the first one. Raises as `run` does."""
    token = executable.execute_sharded(arrays, with_tokens=True).consume_token()
    token.block_until_ready()


def execute(
    executable: LoadedExecutable,
    arrays: Sequence[ArrayImpl],
    avals: Sequence[Any],
    shardings: Sequence[Any],
    committed: Sequence[bool] | bool,
) -> list[ArrayImpl]:
    """`run` for a program that is run once: makes the handlers, too."""
    return run(executable, arrays, result_handlers(avals, shardings, committed))


def run_with_token(
    executable: LoadedExecutable, arrays: Sequence[ArrayImpl], handlers: Sequence[ResultHandler]
) -> tuple[list[ArrayImpl], Any]:
    """`run`, and a token to `wait_for`, until the program's side effects have happened."""
    try:
        results = executable.execute_sharded(arrays, with_tokens=True)
        token = results.consume_token()
        return results.consume_with_handlers(handlers), token
    except JaxRuntimeError as error:
        failure = [exception_behind(error)]
    raise failure.pop()


def wait_for(token: Any) -> list[BaseException]:
    """Waits for a token; returns the errors: one of a callback, or XlaRuntimeError, or none."""
    try:
        token.block_until_ready()
    except JaxRuntimeError as error:
        return [exception_behind(error)]
    return []


def cost_analysis(executable: LoadedExecutable | Executable) -> dict[str, float]:
    """XLA's estimate: `flops`, `transcendentals`, `bytes accessed` and per-operand details.

    Raises XlaRuntimeError if the platform has none (compile-only GPU clients).
    """
    return dict(executable.cost_analysis())


def memory_stats(executable: LoadedExecutable | Executable) -> Any:
    """Bytes that a run needs, by use: `argument_size_in_bytes`, `temp_size_in_bytes` and so on."""
    return executable.get_compiled_memory_stats()


def hlo_text(executable: LoadedExecutable | Executable) -> str:
    """The optimised HLO, module after module."""
    return "\n\n".join(module.to_string() for module in executable.hlo_modules())


def output_shardings(executable: LoadedExecutable | Executable) -> list[Any] | None:
    """The partitioner's sharding of each result as an HloSharding; None for one device."""
    protos = executable.get_output_shardings()
    return None if protos is None else [_b.HloSharding.from_proto(p) for p in protos]


def parameter_layouts(executable: LoadedExecutable | Executable) -> list[tuple[Any, ...]]:
    """The layout of each argument: axes from major to minor, tiles, bits of small elements."""
    return [_layout(x) for x in executable.get_parameter_layouts()]


def output_layouts(executable: LoadedExecutable | Executable) -> list[tuple[Any, ...]]:
    """The layout of each result (see `parameter_layouts`)."""
    return [_layout(x) for x in executable.get_output_layouts()]


def array_layout(x: ArrayImpl) -> tuple[Any, ...]:
    """The layout of an array (see `parameter_layouts`)."""
    return _layout(x._pjrt_layout)


def _layout(x: Any) -> tuple[Any, ...]:
    result = x._xla_layout()
    tiles = tuple(tuple(t) for t in result.tiling())
    return tuple(reversed(result.minor_to_major())), tiles, result.element_size_in_bits()


def parameter_shardings(executable: LoadedExecutable | Executable) -> list[Any] | None:
    """The partitioner's sharding of each argument as an HloSharding; None for one device."""
    protos = executable.get_parameter_shardings()
    return None if protos is None else [_b.HloSharding.from_proto(p) for p in protos]
