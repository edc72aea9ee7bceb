"""From a request to an executable: the providers, which are called in declared order.

A provider is a member of the collection ``jit.executables`` of a plugin's manifest. Each gets the
request, and ``make``, which asks those after it; at the end of the list is the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from dovetail_backends import LoweredModule
from dovetail_base.caches import WeakTable
from dovetail_base.pass_rules import ordered
from dovetail_base.plugin_calls import disable_with_warning
from dovetail_core import ClosedJaxpr, PluginError, RegistryError, discovery, registry
from dovetail_hooks import has_hooks, manager

from .executable import Executable, Runnable, Successor, executable_of
from .request import Request, compilation_key

COLLECTION = "jit.executables"
KNOWN_CALLS = "known calls"
"""The key under which a program remembers objects that run some of its calls, chosen by the
operands alone: their ``run_known(operands)`` is called before the devices are determined."""
Make = Callable[[], Runnable]


class Get(Protocol):
    """The function of a provider."""

    def __call__(self, request: Request, make: Make) -> Runnable | None: ...


def _always(request: Request) -> bool:
    return True


@dataclass(frozen=True)
class ExecutableProvider:
    """A source of executables, or a wrapper of those that others have.

    Attributes:
        name: unique among providers.
        get: ``get(request, make)`` returns what runs the program, or None: the next provider is
            called. ``make()`` returns what the providers after it have. Or ``"module:function"``,
            imported at the first call.
        applies: whether it is called for a request: a quick test of options and the request.
        before, after: names of others that it must precede or follow; absent ones are ignored.
    """

    name: str
    get: Get | str
    applies: Callable[[Request], bool] = _always
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class _Slot:
    """The slot in which a program keeps its runnable under one key; a better one may replace it."""

    __slots__ = ("runnable",)

    def __init__(self, runnable: Runnable) -> None:
        self.runnable = runnable


def executable_for(request: Request) -> Runnable:
    """The runnable of a request, which is remembered with its program."""
    program = request.program
    assert program is not None
    slot: _Slot | None = program.known(request.key)
    if slot is None:
        slot = program.memo(request.key, lambda: _Slot(provide(request)))
        assert slot is not None
        if request.may_be_provisional:  # else another thread may have made a provisional one
            return slot.runnable
    known = slot.runnable
    result = known.exchange(request)
    if result is not known:  # else another thread may have put a better one there
        slot.runnable = result
    return result


def compiled_for(request: Request) -> Executable:
    """:func:`executable_for`, of a request for which nothing but the compiler's will do."""
    result = executable_for(request).compiled
    assert result is not None
    return result


def executables_of(program: ClosedJaxpr) -> list[Executable]:
    """The executables that a program remembers."""
    slots = [x for x in list(program.cache.values()) if isinstance(x, _Slot)]
    result = [slot.runnable.compiled for slot in slots]
    return [x for x in result if x is not None]


def provide(request: Request) -> Runnable:
    """The runnable of the first provider that has one, else of the compiler."""
    return _ask(request, _known.of(registry(), _find), 0)


def _ask(request: Request, providers: list[_Loaded], start: int) -> Runnable:
    for i in range(start, len(providers)):
        each = providers[i]
        if each.provider.applies(request):
            result = each.get()(request, partial(_ask, request, providers, i + 1))
            if result is not None:
                return result
    return made_of(request, request.compile())


def made_of(
    request: Request, loaded: Any, *, was_loaded: bool = False, successor: Successor | None = None
) -> Executable:
    """The executable of a request, made of the runtime's; hooks are called.

    Args:
        loaded: the runtime's executable, or what has its method ``execute_sharded(arrays)``, which
            returns an object with its method ``consume_with_handlers(handlers)``.
        was_loaded: it was made of bytes.
        successor: the source of the full one, if this is provisional.
    """
    module, seconds = request.module, request.seconds
    if request.program is None:
        return Unrunnable(loaded, was_loaded)
    made = executable_of(module.without_record(), loaded, request.device, request.program)
    made.profile, made.successor, made.was_loaded = request.key.profile, successor, was_loaded
    if request.given:
        made.options = dict(request.given)
    if has_hooks("dovetail_compiled"):
        manager().hook.dovetail_compiled(
            name=module.name, platform=module.platform, cached=was_loaded, seconds=seconds,
            program=request.program, executable=made,
        )  # fmt: skip
    return made


def compile_with_cache(
    module: LoweredModule, device: Any, options: Mapping[str, Any] | None, profile: str = "default"
) -> tuple[Any, bool]:
    """The runtime's executable of a module lowered by the caller, and whether it was cached."""
    target = device if module.partition is None else module.partition
    key = compilation_key(target, options=options, profile=profile)
    made = provide(Request(None, module.name, key, options, is_explicit=True, module=module))
    assert made.compiled is not None
    return made.compiled.loaded, made.compiled.was_loaded


class Unrunnable(Executable):
    """An executable of a module alone, compiled for another process: it cannot be called here."""

    def __init__(self, loaded: Any, was_loaded: bool) -> None:
        self.loaded, self.was_loaded = loaded, was_loaded


class _Loaded:
    """A provider with its function."""

    __slots__ = ("_get", "provider")

    def __init__(self, provider: ExecutableProvider) -> None:
        self.provider = provider
        self._get: Any = None

    def get(self) -> Get:
        if self._get is None:
            get = self.provider.get
            self._get = discovery.load_object(get) if isinstance(get, str) else get
        return self._get


_known: WeakTable[list[_Loaded]] = WeakTable()


def _find() -> list[_Loaded]:
    """The providers of the active plugins, in order; those that cannot be used, or contradict those
    before them, are disabled with a warning."""
    result: discovery.Registry = registry()
    accepted: list[ExecutableProvider] = []
    for name in result.members(COLLECTION):
        try:
            each: ExecutableProvider = result.member(COLLECTION, name, partial(_problem, name))
            ordered([*accepted, each])
        except PluginError as e:
            disable_with_warning(str(e), e)
        except RegistryError:
            disable_with_warning(
                f"the provider {name!r} of executables is set aside: its before and after "
                f"contradict those of {', '.join(p.name for p in accepted)}. Correct one of them."
            )
        else:
            accepted.append(each)
    return [_Loaded(p) for p in ordered(accepted)]


def _problem(name: str, thing: Any) -> str:
    """Say what is wrong with an object that a manifest names as a provider."""
    if not isinstance(thing, ExecutableProvider):
        return f"it is a {type(thing).__name__}, not a dovetail_jit.ExecutableProvider"
    if thing.name != name:
        return f"its name is {thing.name!r}, not the {name!r} of the entry"
    if isinstance(thing.before, str) or isinstance(thing.after, str):
        return "its before and after must be tuples of strings, and one is a string"
    return ""
