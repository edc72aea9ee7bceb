"""Look-up of programs by the source of their functions, instead of tracing them.

``jit(f, cache="source")``, or the option ``cache``, uses the provider ``cache_by_source``, and so
for every name: an object with a method ``ask(call)`` that returns an :class:`Answer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from dovetail_backends import target_device
from dovetail_core import here, registry
from dovetail_xla import fork
from dovetail_xla.client import Device

from .executable import Executable
from .observers import watching
from .placement import committed_to
from .signature import Arguments


class Call(NamedTuple):
    """A call whose program is looked up.

    Attributes:
        settings: the arguments of ``jit``. avals: types of the leaves of ``arguments``.
        device: the one that it runs on. committed: whether its results are committed to that.
    """

    settings: Any
    arguments: Arguments
    avals: Sequence[Any]
    device: Any
    committed: bool


class KnownProgram(NamedTuple):
    """A program that need not be traced: it runs on ``consts`` and the leaves of the arguments, and
    its results are bound to its device if they are ``committed``."""

    executable: Executable
    consts: Sequence[Any]
    out_tree: Any
    committed: bool


class Answer(Protocol):
    """The answer of a provider about one call."""

    def find(self) -> KnownProgram | None:
        """Return the program; None if it is not there."""
        ...

    def keep(self, program: Any, executable: Executable) -> None:
        """Keep a program that was traced since it was not there."""
        ...


def provider_of(cache: Any) -> Any:
    """The provider that ``jit(cache=...)`` names.

    Raises:
        ValueError: there is none of that name.
    """
    result = registry().provider(f"cache_by_{cache}", None) if isinstance(cache, str) else None
    if result is None:
        prefix = "cache_by_"
        known = {r for m in registry().active.values() for r in m.providers if r.startswith(prefix)}
        names = ", ".join(sorted(repr(r[len(prefix) :]) for r in known)) or "none"
        raise ValueError(f"cache={cache!r} is not known{here()}: there is {names}.")
    return result


def answer_for(
    mode: str, settings: Any, arguments: Arguments, avals: Sequence[Any]
) -> Answer | None:
    """The answer about a call that is evaluated; None if no provider can have it.

    ``mode``: the name of a provider, as :func:`provider_of` takes it.
    """
    if watching() or fork.forked():
        return None
    answers = provider_of(mode)
    target = _target(settings, arguments.leaves)
    if target is None or settings.shardings is not None or any(a.is_mutable for a in avals):
        return None
    return answers.ask(Call(settings, arguments, avals, *target))


def _target(settings: Any, leaves: Sequence[Any]) -> tuple[Any, bool] | None:
    """The only device of a call, and whether its results are committed to it; None for several."""
    if settings.has_device:
        return settings.target_for((), None, 0, None)
    wheres = {c.where for c in committed_to(leaves)}
    if not wheres:
        return target_device(), False
    where = wheres.pop()
    return None if wheres or not isinstance(where, Device) else (where, True)
