"""Executables: compiled, saved and loaded, run from Python and by C++ dispatch, and inspected."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple
from weakref import ref

from . import bindings as _b
from .bindings import (
    ArrayImpl,
    Client,
    CompileOptions,
    DeviceList,
    Executable as Executable,
    JaxRuntimeError,
    LoadedExecutable,
    PjitFunction as PjitFunction,
    PjitFunctionCache as PjitFunctionCache,
    PyTreeDef,
    PyTreeRegistry,
    ResultHandler,
    ifrt_programs as ifrt_programs,
    pjit as _pjit,
)
from .callbacks import exception_behind, require_callbacks
from .fork import forked
from .interrupts import can_be_interrupted, leave_at_once, run_to_the_end
from .options import option_errors
from .shardings import cut_of

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


class FastPath(NamedTuple):
    """The data by which C++ repeats a call without Python, per kept argument or result."""

    xla_executable: LoadedExecutable
    out_pytree_def: PyTreeDef
    in_shardings: Sequence[Any]
    """Per kept argument."""
    out_shardings: Sequence[Any]
    """Attached to the results by reference."""
    out_avals: Sequence[Any]
    """Attached to the results by reference."""
    out_committed: Sequence[bool]
    kept_var_bitvec: Sequence[bool]
    """True for each constant, and then each flat argument, that the executable takes."""
    in_device_local_layouts: Sequence[Any]
    """Per kept argument; None is the default layout. With another, host memory is handed to
    `shard_arg_fallback` (see `arrays.HostInput`)."""
    const_args: Sequence[Any] = ()
    """Arrays passed ahead of the caller's arguments."""


# C++ that could not take the arguments apart asks Python with its error still set, and what then
# runs fails somewhere, with that error or a misleading one. Any function of C that reads -1 as a
# C integer must look whether that stands for an error, and raises the one that is set.
_raise_pending = "".ljust

MissResult = tuple[Any, FastPath | None, bool]
CacheMiss = Callable[..., MissResult]
"""(*args, **kwargs) -> (result, fast path or None, whether to drop the entry)."""


def make_call(
    name: str,
    fun: Callable[..., Any] | None,
    cache_miss: CacheMiss,
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    key: Hashable,
    registry: PyTreeRegistry,
    shard_arg_fallback: Callable[[Any, Any, Any], Any],
    cache: PjitFunctionCache | None = None,
    explain: Callable[[BaseException], None] | None = None,
) -> PjitFunction:
    """A callable that dispatches in C++ and enters Python, by `cache_miss`, for new calls only.

    The key of a call has structure, types, shardings, static values and jit-key configs. Two
    callables with one `fun` object and equal `key` share entries; `fun=None` keeps them private. A
    leaf of an unknown type (a tracer) goes to `cache_miss` every time, uncached.
    `shard_arg_fallback(arg, sharding, layout)` must return an array of that layout; it is called
    for host values on several devices and for arrays on the wrong number of devices. An exception
    in `cache_miss` is raised by the call and clears the callable's entries. `explain` is called
    with it and may raise another one. Raises TypeError for a key of None or an unhashable one.
    """
    if key is None:
        raise TypeError("key must be a hashable value other than None: use () for a single variant")
    hash(key)
    call: PjitFunction
    itself: ref[PjitFunction]  # or the callable would live on in a circle of references

    def clearing_miss(*args: Any, **kwargs: Any) -> MissResult:
        try:
            _raise_pending(-1)
            return cache_miss(*args, **kwargs)
        except BaseException as e:
            # C++ would send this signature to Python for ever, even after a passing failure.
            if (failed := itself()) is not None:
                failed._clear_cache()
            if explain is not None:
                explain(e)
            raise

    plain = name.encode(errors="backslashreplace").decode()  # C++ has no half surrogate pairs
    call = _pjit(
        plain, fun, clearing_miss, list(static_argnums), list(static_argnames), key, registry,
        shard_arg_fallback, cache,
    )  # fmt: skip
    itself = ref(call)
    return call


def _copied(call: Any) -> Any:
    """The reduction of a callable for copies and pickles: a call of its maker ``_again``.

    Functions of the library that are compiled where they are defined are reduced to their names."""
    again = call.__dict__.get("_again")
    return call.__qualname__ if again is None else (_called, (again,))


def _called(again: Callable[[], Any]) -> Any:
    return again()


copyreg.pickle(PjitFunction, _copied)


def clear_cache(call: PjitFunction) -> None:
    """Forgets the entries of one callable."""
    call._clear_cache()


_shared: list[PjitFunctionCache] = []


def shared_entries(capacity: int) -> PjitFunctionCache:
    """A cache for the entries of callables that are made of equal functions, which may die before
    it; made at import, since it lives as long as the process."""
    result = PjitFunctionCache(capacity)
    _shared.append(result)
    return result


def clear_all_caches() -> None:
    """Forgets every entry of every callable in the process, and the parts of sharded arrays."""
    PjitFunctionCache.clear_all()  # of callables that live
    for entries in _shared:
        entries.clear()
    cut_of.cache_clear()
