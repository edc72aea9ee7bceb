"""The filling of rule tables: the state of each thread that fills one, and modules that wait."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any, NamedTuple

from dovetail_xla.config import TraceConfig

from ..dispatch.primitive import Primitive, packages_with_primitives
from ..registry.plugins import Plugin

Modules = list[tuple[Plugin, str]]

generation = TraceConfig("dovetail_generation", 0)
"""Grows when a rule is replaced or added after its table was filled; part of every cache key."""

entering = Lock()  # held for a few instructions, and never while another module's code runs

_importing: dict[int, list[str]] = {}  # by thread: modules of rules, the innermost last
_held: dict[str, list[Callable[[], bool]]] = {}  # by module: functions that show its rules


class Origin(NamedTuple):
    """The origin of a rule: the module and line that registered it, and how it was made."""

    module: str
    line: int
    kind: str  # "declared", "override" or "derived"
    replaced: Origin | None = None

    def __str__(self) -> str:
        return f"{self.module}:{self.line}" if self.line else f"{self.module} ({self.kind})"


class Change(NamedTuple):
    """A rule that a module added to a slot, and the rule that it replaced."""

    slot: Any
    new: Origin
    rule: Any
    origin: Origin | None


class Filling:
    """The state of one thread while it fills a table, or imports a family of its rules."""

    __slots__ = ("started", "changes", "displaced", "entered", "is_family", "standard")

    def __init__(self, outer: Filling | None = None, is_family: bool = False) -> None:
        self.changes: list[Change] = []
        self.standard = False  # whether the module being imported comes with Dovetail
        self.displaced: list[str] = []  # about rules of others that it replaced
        self.is_family = is_family
        # Of this filling and those that it is part of: modules of families, and their rules.
        self.started: set[str] = set() if outer is None else outer.started
        self.entered: list[Origin] = [] if outer is None else outer.entered


@contextmanager
def importing(module: str) -> Generator[None]:
    """A context for the import of a module of rules (see `publish_after_import`)."""
    modules = _importing.setdefault(get_ident(), [])
    modules.append(module)
    try:
        yield
    finally:
        modules.pop()
        if not modules:
            del _importing[get_ident()]


def publish_after_import(show: Callable[[], bool]) -> bool:
    """Call ``show``, which shows a rule to all threads: now, or, if this thread imports a module of
    rules, once that is imported, since names that the rule uses may be defined below it.

    Called while ``entering`` is held, as ``show`` is. Returns its result; False if it waits.
    """
    modules = _importing.get(get_ident())
    if modules is None:
        return show()
    _held.setdefault(modules[-1], []).append(show)
    return False


def release(module: str) -> bool:
    """Show the rules that wait for a module, which is imported now. Threads that waited for its
    import by another thread call this, too.

    Returns whether any ``show`` returned true: a program may have been made without its rule.
    """
    with entering:
        late = [show() for show in _held.pop(module, ())]
    return any(late)


def tell_caches() -> None:
    """Invalidate all remembered programs, which may have been made with other rules."""
    generation.set_global(generation.value + 1)


def is_being_made(primitive: Primitive) -> bool:
    """Return whether the primitive's module is still being imported, so that it is not in use."""
    spec = getattr(sys.modules.get(primitive.module), "__spec__", None)
    return getattr(spec, "_initializing", False)


def is_due(plugin: Plugin, module: str) -> bool:
    """Return whether a module of rules may have rules of primitives that exist."""
    manifest = plugin.manifest
    own = manifest is not None and module in manifest.own_rules
    return not own or module.partition(".")[0] in packages_with_primitives


def by_family(modules: Sequence[tuple[Plugin, str]]) -> tuple[Modules, dict[str, Modules]]:
    """Modules of rules that are imported when the table is filled; and those that wait until a rule
    is needed, by the modules of their primitives."""
    at_once: Modules = []
    families: dict[str, Modules] = {}
    for plugin, module in modules:
        manifest = plugin.manifest
        homes = manifest.families.get(module) if manifest is not None else None
        if homes is None:
            at_once.append((plugin, module))
        for home in homes or ():
            families.setdefault(home, []).append((plugin, module))
    return at_once, families
