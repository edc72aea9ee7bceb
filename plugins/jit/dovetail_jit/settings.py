"""The settings of ``jit``: its arguments, with static and donated ones by position and name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail_backends import backend as backend_named, runs_programs
from dovetail_base import arguments
from dovetail_base.caches import Cache
from dovetail_base.errors import JaxRuntimeError
from dovetail_base.source import called, short_repr
from dovetail_core import ClosedJaxpr, Tracer, here, typeof
from dovetail_tree.util import tree_flatten
from dovetail_xla.arrays import ArrayImpl

from .call.miss import Callee
from .call.placement import Committed, Wanted, check_inner, committed_to, common_target
from .call.program import Program, trace_function
from .call.request import options_key
from .call.signature import Arguments, function_name, split_arguments, types_of
from .shardings import Shardings
from .structs import described


class DonatedTwice(JaxRuntimeError, ValueError):
    """An array is donated, and passed to the same call once more."""


def _mapping(argument: str, given: Any) -> dict[Any, Any]:
    try:
        return {} if given is None else dict(given)
    except (TypeError, ValueError):
        raise TypeError(
            f"{argument} must be a mapping, got {short_repr(given)}{called()}"
        ) from None


def _paths(reads: Any) -> tuple[str, ...]:
    if reads is None:
        return ()
    given = [reads] if isinstance(reads, (str, os.PathLike)) else reads
    try:
        return tuple([os.path.abspath(os.fspath(path)) for path in given])
    except TypeError:
        raise TypeError(
            f"jit: reads must be paths of files, got {short_repr(reads)}{called()}"
        ) from None


class Settings(Callee):
    """The arguments of ``jit``, with positions and names of static and donated arguments."""

    profile = "default"
    is_operation = False

    def __init__(
        self,
        fun: Callable[..., Any],
        static_argnums: Any = None,
        static_argnames: Any = None,
        donate_argnums: Any = None,
        donate_argnames: Any = None,
        keep_unused: bool = False,
        inline: bool = False,
        backend: str | None = None,
        device: Any = None,
        compiler_options: Mapping[str, Any] | None = None,
        shardings: Shardings | None = None,
        cache: str | None = None,
        reads: Any = None,
        formats: Shardings | None = None,
        structure: Shardings | None = None,
    ) -> None:
        self.fun = fun
        self.name = function_name(fun)
        self.static_nums, self.static_names = _both(
            fun, _ints("static_argnums", static_argnums),
            _names("static_argnames", static_argnames),
        )  # fmt: skip
        self.donate_nums, self.donate_names = _both(
            fun, _ints("donate_argnums", donate_argnums),
            _names("donate_argnames", donate_argnames),
        )  # fmt: skip
        overlap = set(self.static_nums) & set(self.donate_nums)
        if overlap or self.static_names & self.donate_names:
            raise ValueError(
                f"jit of {self.name}: an argument cannot be static and donated{here()}"
            )
        self.keep_unused = arguments.hashable("keep_unused", keep_unused)
        self.inline = arguments.hashable("inline", inline)
        self.backend = arguments.hashable("backend", backend)
        self.device = arguments.hashable("device", device)
        self.options = _mapping("compiler_options", compiler_options)
        self.shardings = shardings
        self.cache = cache
        self.reads = _paths(reads)
        self.known_programs: Cache[Any, Any] = Cache()  # that were not traced, by their keys
        if cache is not None:
            from .call.source_lookup import provider_of

            provider_of(cache)
        self.formats = formats  # where any of what was given says a layout
        self.structure = structure  # what was given, where only its structure matters
        self.passes_tuples = True  # as they are to C++: all static ones were sure until now

    @property
    def key(self) -> Any:
        """All but the function: wrappers of one function with equal settings share their calls."""
        return (
            self.static_nums, self.static_names, self.donate_nums, self.donate_names,
            self.keep_unused, self.inline, self.backend, self.device,
            options_key(self.options), self.shardings and self.shardings.key, self.cache,
            self.reads, self.formats and self.formats.key,
            self.structure and self.structure.key,
        )  # fmt: skip

    def split_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """Split and flatten the arguments of a call.

        Raises:
            ValueError: a static argument is not hashable.
        """
        result = split_arguments(self.fun, args, kwargs, self.static_nums, self.static_names)
        try:
            hash(result.statics)
        except TypeError:
            self.reject_unhashable(args, kwargs)
            raise
        return result

    def reject_unhashable(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Raise for a static argument that has no hash; return if there is none.

        Raises:
            ValueError: names the function, the argument, the location of the call and what to do.
        """
        named = [(f"argument {n}", args[n]) for n in self.static_nums if n < len(args)]
        named += [(f"argument {k!r}", v) for k, v in kwargs.items() if k in self.static_names]
        for label, value in named:
            try:
                hash(value)
            except TypeError as e:
                if isinstance(value, Tracer):
                    raise ValueError(
                        f"jit of {self.name}: static {label}: {value!r} is not hashable: a traced "
                        f"value has no fixed value to hash{here()}. Where it selects what is "
                        "computed, make the argument that it comes from static, too "
                        "(static_argnums); else pass it as an ordinary argument."
                    ) from None
                raise ValueError(
                    f"jit of {self.name}: static {label} of type {type(value).__name__} is not "
                    f"hashable{here()} ({e}). Static arguments select a "
                    "compiled program, so they must be hashable: pass a tuple instead of a list or "
                    "dict, a Python number instead of an array, or do not make it static."
                ) from None

    def statics(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The static arguments of a call."""
        nums = [n for n in self.static_nums if -len(args) <= n < len(args)]
        return [args[n] for n in nums] + [v for k, v in kwargs.items() if k in self.static_names]

    def types(self, arguments: Arguments) -> Sequence[Any]:
        """Types of the dynamic arguments.

        Raises:
            TypeError: one is not an array; names its path.
        """
        leaves = arguments.leaves
        return types_of(leaves, lambda i: f"jit of {self.name}: {arguments.path(i)}{here()}")

    def traced_at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Arguments, Program]:
        """The program for arguments of which only shapes and dtypes are needed, and these."""
        arguments = self.split_arguments(args, kwargs)
        arguments = arguments._replace(leaves=described(arguments.leaves))
        return arguments, trace_function(self.fun, arguments, self.types(arguments))

    def donated_flags(
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
            ValueError: names the positions of both among the operands.
        """
        first: dict[int, int] = {}
        for i, x in enumerate(operands):
            if x.__class__ is ArrayImpl:
                j = first.setdefault(id(x), i)
                if j != i and (donated[i] or donated[j]):
                    other = f"leaf {j - consts} of them" if j >= consts else "closed over"
                    raise DonatedTwice(
                        f"jit of {self.name}: leaf {i - consts} of the arguments, an array of type "
                        f"{typeof(x).str_short()}, is also {other}, and donated{here()}. Donate a "
                        "copy of it (x.copy()), or do not donate it."
                    )

    @property
    def result_shardings(self) -> Shardings | None:
        """The shardings that ``jit`` was given, if any, which say where results are to be."""
        return self.shardings or self.structure

    def wanted(self, program: Program, in_tree: Any) -> Wanted | None:
        """The requested shardings of a program's operands and results."""
        requested = self.shardings
        return requested and requested.wanted(len(program.consts), in_tree, program.out_tree)

    def layouts(self, program: Program, in_tree: Any) -> Wanted | None:
        """The requested layouts of a program's operands and results."""
        requested = self.formats
        return requested and requested.layouts(len(program.consts), in_tree, program.out_tree)

    def target(
        self, operands: Sequence[Any], program: ClosedJaxpr, consts: int, wanted: Wanted | None
    ) -> tuple[Any, bool]:
        """The target of a call, and whether its results are committed to it (see ``placement``)."""
        committed = () if self.has_device else committed_to(operands, consts)
        return self.target_for(committed, program, consts, wanted)

    @property
    def has_statics(self) -> bool:
        """Tell whether any argument is static."""
        return bool(self.static_nums or self.static_names)

    @property
    def has_device(self) -> bool:
        """Tell whether ``jit`` was given a device, whatever arguments are committed to."""
        return self.device is not None or self.backend is not None

    def target_for(
        self,
        committed: Sequence[Committed],
        program: ClosedJaxpr,
        consts: int,
        wanted: Wanted | None,
    ) -> tuple[Any, bool]:
        """:meth:`target`, from what arguments are committed to."""
        device = self.requested_device()
        if device is None:
            return common_target(committed, self.name, program, wanted, consts)
        check_inner(self.name, device, program)
        return device, True

    def requested_device(self) -> Any:
        """The device that ``device`` or ``backend`` names, or None."""
        if self.backend is not None:
            return backend_named(self.backend).local_devices()[0]
        return self.device

    def requested(self) -> dict[str, Any]:
        """Parameters of the primitive ``jit``: how a call that is an operation of a program is to
        be compiled and run."""
        result: dict[str, Any] = {}
        if self.options:
            result["compiler_options_kvs"] = tuple(self.options.items())
        if self.has_device:
            result["device"] = self.requested_device()
        if self.keep_unused:
            result["keep_unused"] = True
        return result

    def non_pjrt_backend(self) -> Any:
        """The requested backend, if it is not PJRT: it takes programs, not modules."""
        result = backend_named(self.backend) if self.backend else None
        return result if result is not None and runs_programs(result) else None


def _signature(fun: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


def _ints(what: str, value: Any) -> tuple[int, ...]:
    given = () if value is None else arguments.integers(what, value)
    if not all(isinstance(n, int) for n in given):
        raise TypeError(
            f"jit: {what} must be an integer or a sequence of integers, got {value!r}{here()}"
        )
    return given


def _names(what: str, value: Any) -> frozenset[str]:
    given = () if value is None else arguments.strings(what, value)
    if not all(isinstance(n, str) for n in given):
        raise TypeError(
            f"jit: {what} must be a string or a sequence of strings, got {value!r}{here()}"
        )
    return frozenset(given)


def _both(
    fun: Any, nums: tuple[int, ...], names: frozenset[str]
) -> tuple[tuple[int, ...], frozenset[str]]:
    """Positions and names of the same arguments; each implies the other if a signature tells."""
    signature = _signature(fun) if nums or names else None  # which takes ten microseconds
    if signature is None:
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
                f"{len(positional)} positional arguments{here()}. Positions count from 0."
            )
    if not takes_more:
        nums = tuple(n % len(positional) for n in nums)
    known = {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL}
    takes_names = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in names:
        if name not in known and not takes_names:
            raise ValueError(
                f"jit of {function_name(fun)}: there is no argument {name!r}; it has "
                f"{sorted(known)}{here()}."
            )
    if nums and not names:
        return nums, frozenset(
            positional[n] for n in nums if -len(positional) <= n < len(positional)
        )
    if names and not nums:
        return tuple(i for i, p in enumerate(positional) if p in names), names
    return nums, names
