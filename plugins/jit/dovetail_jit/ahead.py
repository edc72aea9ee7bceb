"""Calls of programs that need not be traced: a plugin knows them by what functions are made of.

``jit(f, cache="source")``, or the option ``cache``, asks the provider ``cache_by_source``, and so
for every name: an object with a method ``ask(call)`` that returns an :class:`Answer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from dovetail_backends import target_device
from dovetail_core import here, registry
from dovetail_xla import fork
from dovetail_xla.client import Device

from .disk_cache import cache_mode
from .executables import Executable
from .places import committed_to
from .tracing import Arguments
from .watching import watching


class Call(NamedTuple):
    """A call that is to be found.

    Attributes:
        settings: what ``jit`` was asked for. avals: types of the leaves of ``arguments``.
        device: where it runs. committed: whether its results are bound to that.
    """

    settings: Any
    arguments: Arguments
    avals: Sequence[Any]
    device: Any
    committed: bool


class Found(NamedTuple):
    """A program that need not be traced: it runs on ``consts`` and the leaves of the arguments, and
    its results are bound to its device if they are ``committed``."""

    executable: Executable
    consts: Sequence[Any]
    out_tree: Any
    committed: bool


class Answer(Protocol):
    """What a provider says about a call."""

    def find(self) -> Found | None:
        """The program, if it is there."""
        ...

    def keep(self, program: Any, executable: Executable) -> None:
        """Here it is, traced after it was not found."""
        ...


def provider_of(cache: Any) -> Any:
    """Who knows programs in the way that ``jit(cache=...)`` names.

    Raises:
        ValueError: nobody does.
    """
    found = registry().provider(f"cache_by_{cache}", None) if isinstance(cache, str) else None
    if found is None:
        prefix = "cache_by_"
        known = {r for m in registry().active.values() for r in m.providers if r.startswith(prefix)}
        names = ", ".join(sorted(repr(r[len(prefix) :]) for r in known)) or "none"
        raise ValueError(f"cache={cache!r} is not known{here()}: there is {names}.")
    return found


def ask(settings: Any, arguments: Arguments, avals: Sequence[Any]) -> Answer | None:
    """Who may know the program of a call that runs at rest; None where nobody is to be asked."""
    mode = settings.cache if settings.cache is not None else cache_mode.value
    if not mode or watching() or fork.forked():
        return None
    answers = provider_of(mode)
    place = _place(settings, arguments.leaves)
    if place is None or settings.shardings is not None or any(a.is_mutable for a in avals):
        return None
    return answers.ask(Call(settings, arguments, avals, *place))


def _place(settings: Any, leaves: Sequence[Any]) -> tuple[Any, bool] | None:
    """The one device on which a call runs, and whether its results are bound to it."""
    if settings.placed:
        return settings.place_with((), None, 0, None)
    wheres = {c.where for c in committed_to(leaves)}
    if not wheres:
        return target_device(), False
    where = wheres.pop()
    return None if wheres or not isinstance(where, Device) else (where, True)
