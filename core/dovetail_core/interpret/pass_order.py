"""The order of passes by their declarations, and unknown names in these."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Protocol, TypeVar

from dovetail_base.errors import RegistryError

from ..registry.discovery import registry

CLOSE = 0.8
"""The least similarity of a misspelt name to an existing one."""


class Named(Protocol):
    """A pass to be ordered: ``before`` and ``after`` are names of others."""

    @property
    def name(self) -> str: ...
    @property
    def before(self) -> tuple[str, ...]: ...
    @property
    def after(self) -> tuple[str, ...]: ...


T = TypeVar("T", bound=Named)


def ordered(passes: Sequence[T]) -> list[T]:
    """Passes in an order that respects ``before`` and ``after``, and else is by name.

    Raises:
        RegistryError: the constraints contradict each other; names the passes of the cycle.
    """
    by_name = {p.name: p for p in sorted(passes, key=lambda p: p.name)}
    needs = {n: {a for a in p.after if a in by_name} for n, p in by_name.items()}
    for n, p in by_name.items():
        for b in p.before:
            if b in needs:
                needs[b].add(n)
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as e:
        cycle = " -> ".join(e.args[1])
        raise RegistryError(f"passes contradict each other's order: {cycle}") from e
    result: list[T] = []
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        if ready:
            name = ready.pop(0)
            result.append(by_name[name])
            sorter.done(name)
    return result


def misspelt(p: Named, known: Sequence[str], elsewhere: Sequence[str]) -> str:
    """The problem of the names in ``before`` and ``after`` of a pass; empty if there is none.

    A name that no pass has may be that of a plugin which is not installed or not active, and is no
    problem, unless it is close to the name of a pass, or begins with that of an active plugin.

    Args:
        known: names of the passes of its stage.
        elsewhere: names of those of other stages.
    """
    for field, names in (("before", p.before), ("after", p.after)):
        for name in names:
            if name in known:
                continue
            if name in elsewhere:
                return f"its {field}= names {name!r}, which is a pass of another stage"
            if (close := _nearest(name, [n for n in known if n != p.name])) is not None:
                return f"its {field}= names {name!r}, which is no pass{close}"
    return ""


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """The hint in the message about an unknown name; None if an absent plugin may have it."""
    from difflib import get_close_matches  # only where a name is not there

    plugins = registry().plugins
    owner, _, own = name.partition(".")
    is_active = bool(own) and owner in plugins and not plugins[owner].problem
    if not is_active and any(p.problem for p in plugins.values()):
        return None
    close = get_close_matches(name, known, 1, CLOSE)
    if close:
        return f": did you mean {close[0]!r}?"
    return f" of plugin {owner!r}; there are {', '.join(known) or 'none'}." if is_active else None
