"""``jit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from typing import Any

from dovetail_backends import backend as backend_named
from dovetail_core import (
    EVAL,
    Tracer,
    check_alive,
    current_source,
    describe_source,
    get_trace,
    lower_to_lo,
    lower_values,
    raise_values,
    typeof,
)
from dovetail_core.interpret.mutable import any_mutable
from dovetail_core.tree.util import (
    default_registry,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)
from dovetail_core.xla.arrays import ArrayImpl
from dovetail_core.xla.calls import clear_cache, make_call

from .boundary import boundary_of, call_boundary, refuse_aliases
from .eager import fallback
from .executables import committed_to, common_device, executable_for, options_key
from .guards import given, guarded, reject_deleted, reject_static
from .primitive import jit_p
from .stages import ShapeDtypeStruct, Traced, at_rest
from .tracing import Arguments, Program, function_name, take_apart, trace_program

_UNSET: Any = object()


class Settings:
    """What ``jit`` was asked for, with positions and names of static and donated arguments."""

    def __init__(
        self,
        fun: Callable[..., Any],
        static_argnums: Any,
        static_argnames: Any,
        donate_argnums: Any,
        donate_argnames: Any,
        keep_unused: bool,
        inline: bool,
        backend: str | None,
        device: Any,
        compiler_options: Mapping[str, Any] | None,
    ) -> None:
        self.fun = fun
        self.name = function_name(fun)
        signature = _signature(fun)
        self.static_nums, self.static_names = _both(
            fun, signature, _ints("static_argnums", static_argnums),
            _names("static_argnames", static_argnames),
        )  # fmt: skip
        self.donate_nums, self.donate_names = _both(
            fun, signature, _ints("donate_argnums", donate_argnums),
            _names("donate_argnames", donate_argnames),
        )  # fmt: skip
        overlap = set(self.static_nums) & set(self.donate_nums)
        if overlap or self.static_names & self.donate_names:
            raise ValueError(f"jit of {self.name}: an argument cannot be static and donated")
        self.keep_unused = keep_unused
        self.inline = inline
        self.backend = backend
        self.device = device
        self.options = dict(compiler_options or {})

    @property
    def key(self) -> Any:
        """All but the function: wrappers of one function with equal settings share their calls."""
        return (
            self.static_nums, self.static_names, self.donate_nums, self.donate_names,
            self.keep_unused, self.inline, self.backend, self.device,
            options_key(self.options),
        )  # fmt: skip

    def take_apart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """Split and flatten the arguments of a call.

        Raises:
            ValueError: a static argument is not hashable.
        """
        found = take_apart(self.fun, args, kwargs, self.static_nums, self.static_names)
        try:
            hash(found.statics)
        except TypeError:
            reject_static(self, args, kwargs)
            raise
        return found

    def avals(self, arguments: Arguments, args: Any, kwargs: Any) -> list[Any]:
        """Types of the dynamic arguments.

        Raises:
            TypeError: one is not an array; names its path.
        """
        try:
            return [typeof(x) for x in arguments.leaves]
        except TypeError:
            for path, x in tree_flatten_with_path((args, kwargs))[0]:
                try:
                    typeof(x)
                except TypeError as e:
                    where = f"{'kwargs' if path[0].idx else 'args'}{keystr(path[1:])}"  # type: ignore[attr-defined]
                    raise TypeError(
                        f"jit of {self.name}: {where}{describe_source(current_source())}: {e}"
                    ) from None
            raise

    def trace(self, arguments: Arguments, avals: Sequence[Any]) -> Program:
        """The program for a call."""
        key = arguments.statics
        return trace_program(self.fun, key, arguments.in_tree, avals, arguments.rebuild)

    def donated(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], consts: int
    ) -> tuple[bool, ...]:
        """Per input of the program, whether the caller gives its buffer away."""
        if not self.donate_nums and not self.donate_names:
            return ()
        flags: list[bool] = [False] * consts
        nums = {n % len(args) for n in self.donate_nums if -len(args) <= n < len(args)}
        static = {n % len(args) for n in self.static_nums if -len(args) <= n < len(args)}
        for i, a in enumerate(args):
            if i not in static:
                flags += [i in nums] * len(tree_flatten(a)[0])
        for k, v in sorted(kwargs.items()):
            if k not in self.static_names:
                flags += [k in self.donate_names] * len(tree_flatten(v)[0])
        return tuple(flags)

    def check_donated(self, operands: Sequence[Any], donated: Sequence[bool], consts: int) -> None:
        """Refuse a call that gives away an array and uses it a second time.

        Raises:
            ValueError: names both places among the operands.
        """
        first: dict[int, int] = {}
        for i, x in enumerate(operands):
            if x.__class__ is ArrayImpl:
                j = first.setdefault(id(x), i)
                if j != i and (donated[i] or donated[j]):
                    other = f"leaf {j - consts} of them" if j >= consts else "closed over"
                    raise ValueError(
                        f"jit of {self.name}: leaf {i - consts} of the arguments, an array of type "
                        f"{typeof(x).str_short()}, is also {other}, and donated. Donate a copy of "
                        "it (x.copy()), or do not donate it."
                    )

    def place(self, leaves: Sequence[Any]) -> tuple[Any, bool]:
        """Device of a call, and whether its results are committed to it."""
        return self.place_with(() if self.placed else committed_to(leaves))

    @property
    def has_statics(self) -> bool:
        """Whether any argument is static."""
        return bool(self.static_nums or self.static_names)

    @property
    def placed(self) -> bool:
        """Whether ``jit`` was told where calls run, whatever their arguments are committed to."""
        return self.device is not None or self.backend is not None

    def place_with(self, committed: Sequence[tuple[int, Any]]) -> tuple[Any, bool]:
        """:meth:`place`, from what arguments are committed to."""
        if self.device is not None:
            return self.device, True
        if self.backend is not None:
            return backend_named(self.backend).local_devices()[0], True
        return common_device(committed, self.name)

    def runner(self) -> Callable[..., list[Any]] | None:
        """``run(program, args)`` of the backend asked for, if that is one that is not PJRT."""
        return getattr(backend_named(self.backend), "run", None) if self.backend else None


def _signature(fun: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


def _ints(what: str, value: Any) -> tuple[int, ...]:
    given: Any = () if value is None else (value,) if isinstance(value, int) else tuple(value)
    if not all(isinstance(n, int) for n in given):
        raise TypeError(f"jit: {what} must be an integer or a sequence of integers, got {value!r}")
    return given


def _names(what: str, value: Any) -> frozenset[str]:
    given: Any = () if value is None else (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(n, str) for n in given):
        raise TypeError(f"jit: {what} must be a string or a sequence of strings, got {value!r}")
    return frozenset(given)


def _both(
    fun: Any, signature: inspect.Signature | None, nums: tuple[int, ...], names: frozenset[str]
) -> tuple[tuple[int, ...], frozenset[str]]:
    """Positions and names of the same arguments; each implies the other if a signature tells."""
    if signature is None or not (nums or names):
        return nums, names
    parameters = list(signature.parameters.values())
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    takes_more = any(p.kind in (p.VAR_POSITIONAL,) for p in parameters)
    for n in nums:
        if not takes_more and not -len(positional) <= n < len(positional):
            raise ValueError(
                f"jit of {function_name(fun)}: argument number {n} does not exist; it takes "
                f"{len(positional)} positional arguments{describe_source(current_source())}. "
                "Positions count from 0."
            )
    if not takes_more:
        nums = tuple(n % len(positional) for n in nums)
    known = {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL}
    takes_names = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in names:
        if name not in known and not takes_names:
            raise ValueError(
                f"jit of {function_name(fun)}: there is no argument {name!r}; it has "
                f"{sorted(known)}{describe_source(current_source())}."
            )
    if nums and not names:
        return nums, frozenset(
            positional[n] for n in nums if -len(positional) <= n < len(positional)
        )
    if names and not nums:
        return tuple(i for i, p in enumerate(positional) if p in names), names
    return nums, names


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
        device, backend: where to run, in place of where the arguments are.
        inline: inside another traced function, put the operations in place of a call.
        compiler_options: XLA options by name.
        in_shardings, out_shardings: single-device placements only.

    Returns: a callable with ``trace``, ``lower``, ``eval_shape`` and ``clear_cache``.

    Raises:
        TypeError, ValueError: arguments that do not exist, are not arrays or not hashable; names
            them.
    """
    if fun is _UNSET:
        given = {k: v for k, v in locals().items() if k != "fun"}
        return partial(jit, **given)
    if not callable(fun):
        raise TypeError(f"jit takes a function, got {fun!r} of type {type(fun).__name__}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"jit takes functions, but {function_name(fun)} is a generator")
    placed = out_shardings if in_shardings is None else in_shardings
    settings = Settings(
        fun, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline,
        backend, device if placed is None else _one_device(placed), compiler_options,
    )  # fmt: skip
    return _wrap(settings)


def _one_device(shardings: Any) -> Any:
    devices = {d for s in tree_flatten(shardings)[0] for d in getattr(s, "device_set", {s})}
    if len(devices) > 1:
        raise NotImplementedError(
            "in_shardings and out_shardings over several devices need the plugin 'sharding'"
        )
    return devices.pop() if devices else None


def _wrap(settings: Settings) -> Any:
    def miss(*args: Any, **kwargs: Any) -> Any:
        if settings.has_statics:
            args, kwargs = given(args, kwargs)
        return _call(settings, args, kwargs)

    direct = make_call(
        settings.name,
        settings.fun,
        miss,
        static_argnums=settings.static_nums,
        static_argnames=tuple(settings.static_names),
        key=("jit", settings.key),
        registry=default_registry,
        shard_arg_fallback=fallback,
    )
    call: Any = update_wrapper(guarded(direct, settings), settings.fun)
    call.trace = partial(_trace_stage, settings)
    call.lower = lambda *args, **kwargs: _trace_stage(settings, *args, **kwargs).lower()
    call.eval_shape = lambda *args, **kwargs: _trace_stage(settings, *args, **kwargs).out_info
    call.clear_cache = lambda: clear_cache(direct)
    call._settings = settings
    return call


def _call(settings: Settings, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that C++ has not seen: trace, compile, run, and say how to repeat it."""
    arguments = settings.take_apart(args, kwargs)
    leaves = arguments.leaves
    tracing = get_trace() is not EVAL
    for x in leaves:
        if isinstance(x, Tracer):
            check_alive(x)
        elif x.__class__ is ArrayImpl and x.is_deleted():  # type: ignore[union-attr]
            reject_deleted(settings, args, kwargs)
    if tracing and settings.inline:
        return arguments.rebuild(leaves), None, False
    avals = settings.avals(arguments, args, kwargs)
    program = settings.trace(arguments, avals)
    donated = settings.donated(args, kwargs, len(program.consts))
    operands = [*program.consts, *leaves]
    mutable = any_mutable(program.call.in_avals)
    if mutable:
        refuse_aliases(settings.name, args, kwargs, program.consts, leaves)
    if tracing:
        flags = donated or (False,) * len(operands)
        outs = jit_p.bind(*operands, program=program.call, name=settings.name, donated=flags)
        return tree_unflatten(program.out_tree, outs), None, False
    run = settings.runner()
    if run is not None:
        outs = _run_elsewhere(run, settings.name, program, operands)
        return tree_unflatten(program.out_tree, outs), None, False
    if donated:
        settings.check_donated(operands, donated, len(program.consts))
    if mutable:
        return _call_mutable(settings, program, operands, donated), None, False
    device, committed = settings.place(leaves)
    ex = executable_for(
        program.call, settings.name, device, donated=donated, keep_unused=settings.keep_unused,
        options=settings.options,
    )  # fmt: skip
    outs = ex.run(operands, committed)
    path = ex.fast_path(program.out_tree, committed, program.consts)
    return tree_unflatten(program.out_tree, outs), path, False


def _run_elsewhere(run: Any, name: str, program: Program, operands: Sequence[Any]) -> list[Any]:
    """A call by a backend that is not PJRT, which evaluates low programs."""
    bound = boundary_of(program.call)
    call, given = program.call, operands
    if bound is not None:
        call, given = bound.program, bound.contents(operands)
    arrays = lower_values(given, f"asked for to call {name}")
    outs = raise_values(run(lower_to_lo(call), arrays), call.out_avals)
    return outs if bound is None else bound.finish(operands, outs)


def _call_mutable(
    settings: Settings, program: Program, operands: Sequence[Any], donated: Sequence[bool]
) -> Any:
    """A call with mutable arguments: C++ cannot repeat it, but it is traced and compiled once."""
    bound = boundary_of(program.call)
    assert bound is not None
    device, committed = settings.place(bound.contents(operands))

    def executable(pure: Any, flags: Any) -> Any:
        return executable_for(
            pure, settings.name, device, donated=flags, keep_unused=settings.keep_unused,
            options=settings.options,
        )  # fmt: skip

    outs = call_boundary(bound, operands, donated, executable, committed)
    return tree_unflatten(program.out_tree, outs)


def _trace_stage(settings: Settings, *args: Any, **kwargs: Any) -> Traced:
    """The first stage of ahead-of-time compilation; arguments may be ``ShapeDtypeStruct``."""
    arguments = settings.take_apart(args, kwargs)
    avals = settings.avals(arguments, args, kwargs)
    program = settings.trace(arguments, avals)
    donated = settings.donated(args, kwargs, len(program.consts))
    known = [x for x in arguments.leaves if not isinstance(x, (ShapeDtypeStruct, Tracer))]
    committed = () if settings.placed else committed_to(at_rest(known))
    return Traced(settings, program, arguments.in_tree, donated, committed)
