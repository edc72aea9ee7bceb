"""The request for an executable, the key under which a program remembers it, and its digest."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple

from dovetail_backends import (
    Layouts,
    LoweredModule,
    Partition,
    backend_of,
    first_device,
    refuse_unsupported_dtypes,
)
from dovetail_base.keys import exact_key
from dovetail_core import ClosedJaxpr, generation, registry
from dovetail_hooks import has_hooks, manager
from dovetail_xla import transforms

from ..options import FEWER_OPTIMIZATIONS, disable_most_optimizations
from .module import Lowering, module_of, raise_explained

_VARIABLES = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
"""Variables of the environment that the compiler reads."""
Profile = Literal["default", "quick"]
SMALL, FEW = 12, 32
"""Programs of up to so many equations, on arrays of up to so many elements, are compiled by the
quick profile: it takes a third off the time to compile. Its loops are not vectorised, 3 ns more for
each element, which is a tenth of a call here, and 2 to 11 times the call for 10,000 elements."""


class CompilationKey(NamedTuple):
    """The key under which a program remembers an executable; ``ClosedJaxpr.memo`` adds the options
    and the named axes that rules read.

    Attributes:
        target: a device, or the :class:`dovetail_backends.Partition` of several.
        donated: per operand whether its memory is given away, and to which result.
        keep_unused: whether operands that the program does not use are passed all the same.
        options: the compiler's, by name, as keys: to XLA ``True`` is not ``1``.
        profile: of compilation.
        layouts: those of operands and results in memory, if any are requested.
        generation: of the rules that lowered it.
    """

    target: Any
    donated: tuple[Any, ...] = ()
    keep_unused: bool = False
    options: tuple[Any, ...] = ()
    profile: str = "default"
    layouts: Layouts | None = None
    generation: int = 0


def compilation_key(
    target: Any,
    donated: Sequence[Any] = (),
    keep_unused: bool = False,
    options: Mapping[str, Any] | None = None,
    profile: str = "default",
    layouts: Layouts | None = None,
    lowered_at: int | None = None,
) -> CompilationKey:
    """The key of an executable; ``lowered_at``: the generation of rules, now by default."""
    at = generation.value if lowered_at is None else lowered_at
    named = options_key(options) if options else ()
    return CompilationKey(target, tuple(donated), keep_unused, named, profile, layouts, at)


def options_key(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Compiler options as part of a key."""
    return tuple((k, exact_key(v)) for k, v in sorted(options.items()))


class Request:
    """A request for an executable: the argument of every provider.

    Attributes:
        program: the program to be run; None if a module is only to be compiled.
        name: the function's.
        key: the one under which the program remembers the executable.
        given: the compiler options that the call was given.
        device: the one that it runs on; the first of several. partition: of the program; None
            where it runs on one device.
        is_operation: it is for an eager operation, or a function of the library, not of ``jit``.
        may_be_provisional: the caller accepts one that runs until a better one is there.
        is_explicit: the user requested a compilation, which no other executable replaces.
    """

    __slots__ = (
        "_module", "_options", "_start", "device", "given", "is_explicit", "is_operation", "key",
        "may_be_provisional", "name", "partition", "program",
    )  # fmt: skip

    def __init__(
        self,
        program: ClosedJaxpr | None,
        name: str,
        key: CompilationKey,
        given: Mapping[str, Any] | None = None,
        *,
        is_operation: bool = False,
        may_be_provisional: bool = False,
        is_explicit: bool = False,
        module: LoweredModule | None = None,
    ) -> None:
        self.program, self.name, self.key, self.given = program, name, key, given or {}
        self.is_operation = is_operation
        self.may_be_provisional = may_be_provisional
        self.is_explicit = is_explicit
        target = key.target
        self.partition: Partition | None = target if target.__class__ is Partition else None
        self.device: Any = target if self.partition is None else first_device(target)
        self._module = module
        self._options: dict[str, Any] | None = None
        self._start = time.perf_counter()

    def final(self) -> Request:
        """The same request, for an executable that is not provisional."""
        result = copy(self)
        result.may_be_provisional, result._start = False, time.perf_counter()
        return result

    @property
    def platform(self) -> str:
        """The platform of its device, as ``"cpu"``."""
        return backend_of(self.device).platform

    @property
    def module(self) -> LoweredModule:
        """The module of the program, which is lowered when this is first read."""
        if self._module is None:
            key, program = self.key, self.program
            assert program is not None
            how = Lowering(
                self.name, self.platform, key.donated, key.keep_unused, self.partition, key.layouts
            )
            self._module = module_of(program, how)
            self._start = time.perf_counter()
        return self._module

    @property
    def options(self) -> dict[str, Any]:
        """The compiler's options: of configuration, of plugins, and as given."""
        if self._options is None:
            self._options = all_options(self.module.platform, self.given)
        return self._options

    def digest(self) -> bytes:
        """32 bytes that are equal in every process for this module with these options."""
        return program_key(self.module, self.device, self.options)

    @property
    def seconds(self) -> float:
        """The time since the program was lowered."""
        return time.perf_counter() - self._start

    def compile(self, profile: str | None = None) -> Any:
        """The runtime's executable, from the plugin that compiles, else from the backend.

        Raises:
            Unsupported: the program has values of element types that the backend lacks.
        """
        module, program = self.module, self.program
        if program is None:
            return compile_uncached(module, self.device, self.options, profile or self.key.profile)
        refuse_unsupported_dtypes(backend_of(self.device), program, module.name)
        try:
            return compile_uncached(module, self.device, self.options, profile or self.key.profile)
        except Exception as e:
            raise_explained(program, module.platform, module.name, e)


def all_options(platform: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The compiler's options: of configuration, of plugins for a platform, and as given."""
    merged = dict(FEWER_OPTIMIZATIONS) if disable_most_optimizations.value else {}
    if has_hooks("dovetail_compile_options"):
        for result in reversed(manager().hook.dovetail_compile_options(platform=platform)):
            merged.update(result)
    return {**merged, **(given or {})}


def compile_uncached(
    module: LoweredModule, device: Any, options: dict[str, Any], profile: str
) -> Any:
    """The runtime's executable of a module, compiled without a look-up in any cache."""
    if profile == "default" and has_hooks("dovetail_compile"):
        result = manager().hook.dovetail_compile(
            module=module.text, platform=module.platform, options=options
        )
        if result is not None:
            return result
    return backend_of(device).compile(module, device, options, profile)


def profile_of(program: ClosedJaxpr) -> str:
    """The profile that a program's size suggests: ``"quick"`` for few operations on few elements;
    remembered with the program."""
    return program.memo("profile", lambda: _profile_of(program))


def _profile_of(program: ClosedJaxpr) -> str:
    eqns = program.eqns
    used = [e.primitive for e in eqns]
    if len(eqns) > SMALL or any(p.regions is not None or p.traits.superlinear for p in used):
        return "default"
    sizes = [getattr(v.aval, "size", 0) for e in eqns for v in (*e.invars, *e.outvars)]
    return "quick" if max(sizes, default=0) <= FEW else "default"


def program_key(module: LoweredModule, device: Any, options: Mapping[str, Any]) -> bytes:
    """32 bytes for the program, its options, its device and the plugins that compile it."""
    facts = (
        module.platform, _devices(module, device), _whose_backend(module.platform),
        *facts_of_compiling(options),
    )  # fmt: skip
    digest = hashlib.sha256(repr(facts).encode())
    digest.update(module.text.encode())
    return digest.digest()


def facts_of_compiling(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The facts on which a compilation depends beside the program: options, compilers,
    variables."""
    compilers: list[str] = []
    if has_hooks("dovetail_compile"):
        names = [i.plugin_name for i in manager().hook.dovetail_compile.get_hookimpls()]
        plugins = registry().plugins
        compilers = [plugins[n].whose if n in plugins else n for n in names]
    compilers += transforms.names()
    variables = [os.environ.get(name, "") for name in _VARIABLES]
    return sorted(options.items()), compilers, variables


def _whose_backend(platform: str) -> str:
    """The plugin with the backend of a platform, which may add options of its own, and its
    version."""
    result = registry()
    return (
        result.owner("backends", platform).whose if platform in result.entries("backends") else ""
    )


def _devices(module: LoweredModule, device: Any) -> Any:
    """The devices, and the arrays whose shardings the compiler chooses, which the text omits."""
    part = module.partition
    if part is None:
        return device.id
    return part.ids, [s is None for s in part.ins], [s is None for s in part.outs]
