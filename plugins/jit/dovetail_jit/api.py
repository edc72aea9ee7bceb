"""``jit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from dovetail_base.caches import WeakTable, identity
from dovetail_base.deprecation import deprecated_in_jax
from dovetail_base.wrapping import update_wrapper
from dovetail_core import EVAL, Tracer, check_alive, get_trace, registry
from dovetail_tree.errors import explain_arguments
from dovetail_tree.util import calls, tree_unflatten
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.execution import clear_cache, make_call, shared_entries

from .call.effects import call_with_callbacks
from .call.miss import Call, Requirements, Result, miss, moved
from .call.mutable_arguments import held_values, refuse_aliases
from .call.observers import watching
from .call.placement import Wanted, committed_to
from .call.program import Program, as_array, forget, trace_function
from .call.signature import Arguments, function_name
from .guards import as_given, guarded, reject_deleted, reject_too_large
from .options import cache_mode
from .primitive import jit_p
from .settings import Settings
from .shardings import Shardings, constrained
from .static_key import any_inexact
from .structs import ShapeDtypeStruct

if TYPE_CHECKING:
    from .stages import Traced

_UNSET: Any = object()


def jit(
    fun: Callable[..., Any] = _UNSET,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: Mapping[str, Any] | None = None,
    cache: str | None = None,
    reads: Any = None,
) -> Any:
    """Compile ``fun`` with XLA; calls with arguments of known types run without entering Python.

    Args:
        fun: a function of pytrees of arrays, and of static arguments. Without it, a decorator.
        static_argnums, static_argnames: arguments that are compile-time constants; they must be
            hashable. Positions imply names and names positions where the signature tells.
        donate_argnums, donate_argnames: arguments whose buffers results may reuse; the arrays are
            deleted by the call (those that no result can use are kept). Using one later raises
            RuntimeError.
        keep_unused: keep arguments in the compiled program that ``fun`` does not use.
        device, backend: the device to run on, instead of that of the arguments. They hold for what
            transformations make of a call; called within another compiled function, all of that
            runs there, and it must not be given another device.
        inline: inside another traced function, write the operations instead of a call.
        compiler_options: XLA options by name. They hold for what transformations make of a call;
            within another compiled function, which has one set of options, such a call is refused.
        cache: ``"source"``: a later process finds the program in the compilation cache by the code
            of ``fun`` and of all that it uses, and does not trace it (see the users' guide).
        reads: paths of files that ``fun`` reads while it is traced, for ``cache``.
        in_shardings, out_shardings: shardings of arguments and of results, specs of the mesh that
            is set, or pytrees of these, prefixes of the tuple of arguments and of the result.
            Arguments that are not committed are moved there. None, for all or for a leaf: the
            sharding that the argument has, or that XLA chooses for the result. A ``Format`` also
            gives the layout in memory; ``Layout.AUTO`` leaves that to the compiler, and
            ``compiled.input_formats`` tell what it chose.

    Returns: a callable with ``trace``, ``lower``, ``eval_shape`` and ``clear_cache``.

    Raises:
        TypeError, ValueError: arguments that do not exist, are not arrays or not hashable; names
            them.
    """
    requested = {k: v for k, v in locals().items() if k != "fun"}
    if fun is _UNSET:
        return partial(jit, **requested)
    if not callable(fun):
        raise TypeError(f"jit takes a function, got {fun!r} of type {type(fun).__name__}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"jit takes functions, but {function_name(fun)} is a generator")
    if device is not None and backend is not None:
        raise ValueError(
            f"jit of {function_name(fun)}: give device or backend, not both; got {device!r} and "
            f"{backend!r}"
        )
    if device is not None or backend is not None:
        deprecated_in_jax("jit(f, device=..., backend=...)", "device_put of the arguments")
    shardings = formats = structure = None
    if in_shardings is not None or out_shardings is not None:
        shardings = Shardings(function_name(fun), in_shardings, out_shardings)
        formats = shardings if shardings.have_layouts else None
        if device is None:
            device = shardings.one_device
        if device is not None or not shardings.are_given:
            shardings, structure = None, shardings
    settings = Jitted(
        fun, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline,
        backend, device, compiler_options, shardings, cache, reads, formats,
        structure,
    )  # fmt: skip
    call = wrap(settings)
    call._again = partial(
        jit, fun, **{k: v for k, v in requested.items() if v is not None and v is not False}
    )
    return call


def wrap(settings: Jitted) -> Any:
    """The compiled callable that ``jit`` returns."""
    inner: list[Any] = []
    direct = _repeated(settings, "jit", partial(_call, settings, inner))
    call: Any = update_wrapper(guarded(direct, settings), settings.fun)
    if call is not direct:
        call._cache_size = direct._cache_size
    call.trace = partial(_trace_stage, settings)
    call.lower = lambda *args, **kwargs: _trace_stage(settings, *args, **kwargs).lower()
    call.eval_shape = lambda *args, **kwargs: _trace_stage(settings, *args, **kwargs).out_info
    # No circle of references: it dies with the last use.
    call.clear_cache = partial(_clear_cache, ref(direct), inner, settings)
    call._settings = settings
    for name in _added_methods():
        setattr(call, name, partial(_call_method, name, call.trace))
    return call


METHODS = "jit.methods"
"""The collection of methods that plugins add to compiled functions: functions
``member(trace, *args, **kwargs)`` of a function's ``trace`` and of what the method is called with.
"""
_methods: WeakTable[tuple[str, ...]] = WeakTable()


def _added_methods() -> tuple[str, ...]:
    """The names of the methods, which are imported when they are called."""
    result = registry()
    return _methods.of(result, lambda: tuple(result.members(METHODS)))


def _call_method(name: str, trace: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call the method ``name`` of the function that ``trace`` traces."""
    return registry().member(METHODS, name, _problem)(trace, *args, **kwargs)


def _problem(thing: Any) -> str:
    return "" if callable(thing) else f"it is a {type(thing).__name__}, not a function"


entries = shared_entries(8192)
"""The calls that C++ knows, for all callables: a function may be jitted at each call of another."""


def _repeated(settings: Settings, kind: str, miss: Callable[..., Any]) -> Any:
    """A callable whose calls C++ repeats; it calls ``miss`` for those that it cannot."""
    return make_call(
        settings.name,
        settings.fun,
        miss,
        static_argnums=settings.static_nums,
        static_argnames=tuple(settings.static_names),
        key=(kind, identity(settings.fun), settings.key),
        registry=calls,
        shard_arg_fallback=moved,
        cache=entries if settings.cache is None else None,  # files that it reads may have changed
        explain=explain_arguments,  # of arguments, which C++ flattens before it calls Python
    )


def _clear_cache(call: ref[Any], inner: Sequence[Any], settings: Settings) -> None:
    """Drop the programs and the executables of this function."""
    settings.known_programs.clear()
    forget(settings.fun)
    if (result := call()) is not None:
        clear_cache(result)
    for result in inner:
        clear_cache(result)


def _call(settings: Jitted, inner: list[Any], /, *args: Any, **kwargs: Any) -> Any:
    """Make a call that C++ has not seen, or must not repeat by itself.

    If a program calls Python, C++ repeats a second callable from here, so that the exceptions of
    callbacks are raised: ``inner`` has it as soon as the function has such a program.
    """
    if inner and get_trace() is EVAL:
        return call_with_callbacks(inner[0], args, kwargs), None, False
    # Directly where that is possible: each frame here is one for each level of nested calls.
    has_statics = settings.has_statics
    result = settings.call(args, kwargs) if has_statics else miss(settings, args, kwargs)
    if not result.calls_python:
        return result[:3]
    if result.path is not None and not inner:
        inner.append(_repeated(settings, "jit with callbacks", partial(_call_inside, settings)))
    return result.value, None, False


def _call_inside(settings: Jitted, /, *args: Any, **kwargs: Any) -> Any:
    """Make a call that C++ has not seen; the caller raises exceptions of callbacks."""
    return settings.call(args, kwargs)[:3]


class Jitted(Settings):
    """A function of ``jit``, as a callee."""

    has_lookup = True

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        """The result of a call that C++ has not seen; guards may have replaced static arguments."""
        if not self.has_statics:
            return miss(self, args, kwargs)
        inexact = any_inexact(self.statics(args, kwargs))
        result = miss(self, *as_given(args, kwargs))
        if inexact:
            self.passes_tuples = False
            return result._replace(path=None, again=True)
        return result

    def traced(self, call: Call) -> Result | None:
        """The call as one operation of the program that is being traced."""
        leaves = call.arguments.leaves
        self._check_usable(call)
        backend = self.non_pjrt_backend()
        if not _is_traced(leaves, backend):
            return None
        if backend is not None:
            from .call.non_pjrt import refuse_transformed

            refuse_transformed(self.name, backend, get_trace())
        requested = self.requested()
        if self.inline and self.shardings is None and not requested:
            return Result(call.arguments.rebuild([as_array(x) for x in leaves]))
        avals = self.types(call.arguments)
        program = trace_function(self.fun, call.arguments, avals)  # as program(), a frame less
        self._check_structure(call.arguments, program)
        if program.is_mutable:
            self.refuse_aliases(call, program)
        flags = self.donated_flags(call.args, call.kwargs, len(program.consts))
        return Result(self._bind(call.arguments, program, flags, requested))

    def _bind(
        self,
        arguments: Arguments,
        program: Program,
        flags: Sequence[bool],
        requested: dict[str, Any],
    ) -> Any:
        leaves, shardings = arguments.leaves, self.shardings
        if self.formats is not None:
            from .call.layouts import refuse_mapped_layouts  # few have any

            refuse_mapped_layouts(self.name)
        if shardings is not None:
            leaves = constrained(leaves, shardings.inputs(arguments.in_tree))
        operands = [*program.consts, *leaves]
        outs = jit_p.bind(
            *operands, jaxpr=program.call, name=self.name,
            donated_invars=flags or (False,) * len(operands), **requested,
        )  # fmt: skip
        if shardings is not None:
            outs = constrained(outs, shardings.results(program.out_tree))
        return tree_unflatten(program.out_tree, outs)

    def _check_usable(self, call: Call) -> None:
        for x in call.arguments.leaves:
            if isinstance(x, Tracer):
                check_alive(x)
            elif x.__class__ is ArrayImpl and x.is_deleted():  # type: ignore[union-attr]
                reject_deleted(self, call.args, call.kwargs)
            elif x.__class__ is int and x.bit_length() > 31:
                reject_too_large(self, call.args, call.kwargs)

    def lookup(self, arguments: Arguments, avals: Sequence[Any]) -> Any:
        mode = self.cache if self.cache is not None else cache_mode.value
        if not mode or self.non_pjrt_backend() is not None:
            return None
        from .call.source_lookup import answer_for  # if such a cache is requested

        return answer_for(mode, self, arguments, avals)

    def program(self, arguments: Arguments, avals: Sequence[Any]) -> Program:
        program = trace_function(self.fun, arguments, avals)
        self._check_structure(arguments, program)
        return program

    def _check_structure(self, arguments: Arguments, program: Program) -> None:
        if self.structure is not None:
            self.structure.check(arguments.in_tree, program.out_tree)

    def donated(self, call: Call, operands: Sequence[Any], consts: int) -> Sequence[bool]:
        flags = self.donated_flags(call.args, call.kwargs, consts)
        if not flags or self.non_pjrt_backend() is not None:
            return flags
        self.check_donated(operands, flags, consts)
        return () if watching() else flags  # an observer may run it again

    def required(self, call: Call, program: Program, operands: Sequence[Any]) -> Requirements:
        in_tree = call.arguments.in_tree
        return Requirements(
            self.donated(call, operands, len(program.consts)),
            self.non_pjrt_backend(),
            self.wanted(program, in_tree),
            self.layouts(program, in_tree),
        )

    def refuse_aliases(self, call: Call, program: Program) -> None:
        refuse_aliases(self.name, call.args, call.kwargs, program.consts, call.arguments.leaves)


def _is_traced(leaves: Sequence[Any], backend: Any) -> bool:
    """Tell whether a call becomes part of what is being traced.

    Under a trace that computes known values at once, only a backend that is not PJRT needs this:
    for others the operation's rule decides.
    """
    trace = get_trace()
    if backend is None or not trace.computes:
        return trace is not EVAL
    return any(isinstance(x, Tracer) for x in leaves)


def _trace_stage(settings: Settings, *args: Any, **kwargs: Any) -> Traced:
    """The first stage of ahead-of-time compilation; arguments need only shapes and dtypes."""
    from .stages import Traced  # which calls do without

    arguments, program = settings.traced_at(args, kwargs)
    donated = settings.donated_flags(args, kwargs, len(program.consts))
    consts = held_values(program.consts)
    committed = committed_to([*consts, *held_values(arguments.leaves)], len(consts))
    layouts = settings.layouts(program, arguments.in_tree)
    if settings.formats is None:
        layouts = _described_layouts(len(program.consts), arguments.leaves)
    return Traced(settings, program, arguments.in_tree, donated, committed, len(consts), layouts)


def _described_layouts(consts: int, leaves: Sequence[Any]) -> Wanted | None:
    """The layouts of arguments that are only described."""
    result = [x._layout if isinstance(x, ShapeDtypeStruct) else None for x in leaves]
    return Wanted((*[None] * consts, *result)) if any(result) else None
