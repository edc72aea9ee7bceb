"""``jit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import ref

from dovetail_base.caches import identity
from dovetail_base.deprecation import deprecated_in_jax
from dovetail_base.wrapping import update_wrapper
from dovetail_core import (
    EVAL,
    Tracer,
    check_alive,
    get_trace,
)
from dovetail_core.interpret.mutable import any_mutable
from dovetail_tree.errors import explain_arguments
from dovetail_tree.util import calls, tree_unflatten
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.calls import (
    MissResult,
    PjitFunctionCache,
    clear_cache,
    make_call,
)

from .ahead import Answer, Found, ask
from .boundary import boundary_of, call_boundary, refuse_aliases
from .captured import warn_of_captured
from .compilation import executable_for
from .eager import fallback
from .elsewhere import call_elsewhere, refuse_transformed
from .exact_statics import unsure_passed
from .guards import given, guarded, reject_deleted, reject_too_large
from .layouts import check_layouts, refuse_mapped_layouts, told_layouts
from .methods import added_methods, call_method
from .pending import call_with_callbacks
from .places import committed_to
from .primitive import jit_p
from .settings import Settings
from .shardings import Shardings, constrained
from .stages import Traced, at_rest
from .structs import described
from .tracing import Arguments, Program, as_array, forget, function_name, traced_anew
from .watching import fast_path, run, watching

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
        device, backend: where to run, in place of where the arguments are. They hold for what
            transformations make of a call; called within another compiled function, the whole of
            that runs there, and must not be told to run elsewhere.
        inline: inside another traced function, put the operations in place of a call.
        compiler_options: XLA options by name. They hold for what transformations make of a call;
            within another compiled function, which has one set of options, such a call is refused.
        cache: ``"source"``: a later process finds the program in the compilation cache by the code
            of ``fun`` and all that it uses, and does not trace it (see the users' guide).
        reads: paths of files that ``fun`` reads while it is traced, for ``cache``.
        in_shardings, out_shardings: where arguments must be and results are to be: shardings,
            specs of the mesh that is set, or pytrees of these, prefixes of the tuple of arguments
            and of the result. Arguments that are not bound to a place are moved there. None, for
            the whole or a leaf: where arguments are, and where XLA puts results. A ``Format`` also
            says how values lie in memory; ``Layout.AUTO`` leaves that to the compiler, and
            ``compiled.input_formats`` tell what it chose.

    Returns: a callable with ``trace``, ``lower``, ``eval_shape`` and ``clear_cache``.

    Raises:
        TypeError, ValueError: arguments that do not exist, are not arrays or not hashable; names
            them.
    """
    asked = {k: v for k, v in locals().items() if k != "fun"}
    if fun is _UNSET:
        return partial(jit, **asked)
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
    settings = Settings(
        fun, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline,
        backend, device, compiler_options, shardings, cache, reads, formats,
        structure,
    )  # fmt: skip
    call = wrap(settings)
    call._again = partial(
        jit, fun, **{k: v for k, v in asked.items() if v is not None and v is not False}
    )
    return call


def wrap(settings: Settings) -> Any:
    """What ``jit`` makes of a function (see there)."""
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
    for name in added_methods():
        setattr(call, name, partial(call_method, name, call.trace))
    return call


entries = PjitFunctionCache(8192)
"""What C++ knows of calls, in common: a function that is jitted anew in each call of another."""


def _repeated(settings: Settings, kind: str, miss: Callable[..., Any]) -> Any:
    """A call of the function that C++ repeats, and asks ``miss`` about where it cannot."""
    return make_call(
        settings.name,
        settings.fun,
        miss,
        static_argnums=settings.static_nums,
        static_argnames=tuple(settings.static_names),
        key=(kind, identity(settings.fun), settings.key),
        registry=calls,
        shard_arg_fallback=fallback,
        cache=entries if settings.cache is None else None,  # files that it reads may have changed
        explain=explain_arguments,  # of arguments, which C++ takes apart before it asks Python
    )


def _clear_cache(call: ref[Any], inner: Sequence[Any], settings: Settings) -> None:
    """Forget what this function was traced to, and compiled."""
    settings.found.clear()
    forget(settings.fun)
    if (found := call()) is not None:
        clear_cache(found)
    for found in inner:
        clear_cache(found)


def _call(settings: Settings, inner: list[Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call that C++ has not seen, or must not repeat by itself.

    Where a program calls Python, a second one is repeated by C++ from here, where exceptions of
    callbacks are found: ``inner`` has it as soon as the function has such a program.
    """
    if inner and get_trace() is EVAL:
        return call_with_callbacks(inner[0], args, kwargs), None, False
    call = _call_guarded if settings.has_statics else _call_anew
    (out, path, drop), calls_python = call(settings, args, kwargs)
    if not calls_python:
        return out, path, drop
    if path is not None and not inner:
        inner.append(_repeated(settings, "jit with callbacks", partial(_call_inside, settings)))
    return out, None, False


def _call_inside(settings: Settings, /, *args: Any, **kwargs: Any) -> Any:
    """A call that C++ has not seen, of a function whose exceptions are found by who calls it."""
    call = _call_guarded if settings.has_statics else _call_anew
    return call(settings, args, kwargs)[0]


def _call_guarded(
    settings: Settings, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[MissResult, bool]:
    """:func:`_call_anew` where there are static arguments, which a guard passed on."""
    unsure = unsure_passed(settings.statics(args, kwargs))
    (out, path, drop), calls_python = _call_anew(settings, *given(args, kwargs))
    if unsure:
        settings.passes_tuples = False
        return (out, None, True), calls_python
    return (out, path, drop), calls_python


def _call_anew(
    settings: Settings, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[MissResult, bool]:
    """Trace, compile, run, and say how to repeat it, and whether the program calls Python."""
    arguments = settings.take_apart(args, kwargs)
    leaves = arguments.leaves
    _check_usable(settings, leaves, args, kwargs)
    elsewhere = settings.elsewhere()
    tracing = _is_traced(leaves, elsewhere)
    if tracing and elsewhere is not None:
        refuse_transformed(settings.name, elsewhere, get_trace())
    if tracing and settings.inline and settings.shardings is None and not settings.asked():
        return (arguments.rebuild([as_array(x) for x in leaves]), None, False), False
    avals = settings.avals(arguments, args, kwargs)
    asked = None if tracing or elsewhere is not None else ask(settings, arguments, avals)
    if asked is not None and (found := asked.find()) is not None:
        return _call_found(settings, found, leaves, args, kwargs)
    if asked is None:
        program = settings.trace(arguments, avals)
    else:
        with traced_anew():
            program = settings.trace(arguments, avals)
    if settings.structure is not None:
        settings.structure.check(arguments.in_tree, program.out_tree)
    donated = settings.donated(args, kwargs, len(program.consts))
    operands = [*program.consts, *leaves]
    mutable = any_mutable(program.call.in_avals)
    if mutable:
        refuse_aliases(settings.name, args, kwargs, program.consts, leaves)
    if tracing:
        return (_call_traced(settings, program, arguments, donated), None, False), False
    if elsewhere is not None:
        outs = call_elsewhere(elsewhere, settings, program, operands, donated)
        return (tree_unflatten(program.out_tree, outs), None, False), False
    if donated:
        donated = _given_away(settings, operands, donated, len(program.consts))
    if mutable:
        return (_call_mutable(settings, program, arguments, donated), None, False), False
    return _call_at_rest(settings, program, arguments, donated, asked)


def _call_at_rest(
    settings: Settings,
    program: Program,
    arguments: Arguments,
    donated: Sequence[bool],
    asked: Answer | None,
) -> tuple[MissResult, bool]:
    """A call that the runtime repeats, which is told to whom was ``asked`` about it."""
    leaves, operands = arguments.leaves, [*program.consts, *arguments.leaves]
    if captured := [*program.consts, *program.call.consts]:
        warn_of_captured(settings.name, captured)
    wanted = settings.wanted(program, arguments.in_tree)
    place, committed = settings.place(operands, program.call, len(program.consts), wanted)
    layouts = None
    if settings.formats is not None:
        told = settings.layouts(program, arguments.in_tree, arguments.leaves)
        layouts = told_layouts(program.call, settings.name, told)
    ex = executable_for(
        program.call, settings.name, place, donated=donated, keep_unused=settings.keep_unused,
        options=settings.options, may_wait=asked is None and layouts is None, layouts=layouts,
    )  # fmt: skip
    if layouts is not None:
        check_layouts(ex, operands)
    outs = run(ex, program.call, operands, committed)
    drop = ex.is_provisional  # C++ must ask again at the next call; another thread may exchange it
    path = fast_path(ex, program.out_tree, committed, leaves, program.consts)
    if asked is not None:
        asked.keep(program, ex)
    return (tree_unflatten(program.out_tree, outs), path, drop), ex.calls_python


def _call_found(
    settings: Settings, found: Found, leaves: Sequence[Any], args: Any, kwargs: Any
) -> tuple[MissResult, bool]:
    """A call whose program is known without being traced."""
    ex, consts, operands = found.executable, found.consts, [*found.consts, *leaves]
    donated = settings.donated(args, kwargs, len(consts))
    if donated:
        settings.check_donated(operands, donated, len(consts))
    outs = ex.run(operands, found.committed)
    path = fast_path(ex, found.out_tree, found.committed, leaves, consts)
    return (tree_unflatten(found.out_tree, outs), path, False), False


def _call_traced(
    settings: Settings, program: Program, arguments: Arguments, donated: Sequence[bool]
) -> Any:
    """A call as one operation of what is being traced."""
    leaves, asked = arguments.leaves, settings.shardings
    if settings.formats is not None:
        refuse_mapped_layouts(settings.name)
    if asked is not None:
        leaves = constrained(leaves, asked.inputs(arguments.in_tree))
    operands = [*program.consts, *leaves]
    flags = donated or (False,) * len(operands)
    outs = jit_p.bind(
        *operands, jaxpr=program.call, name=settings.name, donated_invars=flags, **settings.asked()
    )
    if asked is not None:
        outs = constrained(outs, asked.results(program.out_tree))
    return tree_unflatten(program.out_tree, outs)


def _is_traced(leaves: Sequence[Any], elsewhere: Any) -> bool:
    """Whether a call becomes part of what is being traced. Where known values are computed at once,
    only another backend must be asked here: others are asked by the operation's rule."""
    trace = get_trace()
    if elsewhere is None or not trace.computes:
        return trace is not EVAL
    return any(isinstance(x, Tracer) for x in leaves)


def _given_away(
    settings: Settings, operands: Sequence[Any], donated: Sequence[bool], consts: int
) -> Sequence[bool]:
    """Which operands' memory a call takes; none, while anybody may want to run it again."""
    settings.check_donated(operands, donated, consts)
    return () if watching() else donated


def _check_usable(
    settings: Settings, leaves: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    for x in leaves:
        if isinstance(x, Tracer):
            check_alive(x)
        elif x.__class__ is ArrayImpl and x.is_deleted():  # type: ignore[union-attr]
            reject_deleted(settings, args, kwargs)
        elif x.__class__ is int and x.bit_length() > 31:
            reject_too_large(settings, args, kwargs)


def _call_mutable(
    settings: Settings, program: Program, arguments: Arguments, donated: Sequence[bool]
) -> Any:
    """A call with mutable arguments: C++ cannot repeat it, but it is traced and compiled once."""
    bound = boundary_of(program.call)
    assert bound is not None
    operands = [*program.consts, *arguments.leaves]
    consts = len(bound.contents(program.consts))
    wanted = bound.wanted(settings.wanted(program, arguments.in_tree))
    place, committed = settings.place(bound.contents(operands), bound.program, consts, wanted)

    told = bound.wanted(settings.layouts(program, arguments.in_tree, arguments.leaves))

    def executable(pure: Any, flags: Any) -> Any:
        return executable_for(
            pure, settings.name, place, donated=flags, keep_unused=settings.keep_unused,
            options=settings.options, may_wait=settings.formats is None,
            layouts=told_layouts(pure, settings.name, told),
        )  # fmt: skip

    outs = call_boundary(bound, operands, donated, executable, committed)
    return tree_unflatten(program.out_tree, outs)


def _trace_stage(settings: Settings, *args: Any, **kwargs: Any) -> Traced:
    """The first stage of ahead-of-time compilation; arguments need only shapes and dtypes."""
    arguments = settings.take_apart(args, kwargs)
    arguments = arguments._replace(leaves=described(arguments.leaves))
    avals = settings.avals(arguments, args, kwargs)
    program = settings.trace(arguments, avals)
    donated = settings.donated(args, kwargs, len(program.consts))
    consts = at_rest(program.consts)
    committed = committed_to([*consts, *at_rest(arguments.leaves)], len(consts))
    layouts = settings.layouts(program, arguments.in_tree, arguments.leaves)
    return Traced(settings, program, arguments.in_tree, donated, committed, len(consts), layouts)
